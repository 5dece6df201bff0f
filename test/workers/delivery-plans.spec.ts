import assert from 'node:assert/strict';
import type { Knex } from '../../shared/db/knex.js';
import { now } from '../../shared/process/clock.js';
import { MAX_TRIES } from '../../shared/webhooks/backoff.js';
import { findDueAccounts } from '../../shared/webhooks/find-due.js';
import { dropSome, sweepEndpoints } from '../../shared/webhooks/pending-deliveries.js';
import { recordFailure } from '../../shared/webhooks/record-failure.js';
import { recordSuccess } from '../../shared/webhooks/record-success.js';
import { resendEvent } from '../../shared/webhooks/resend.js';
import { type TakenDelivery, takeDueDeliveries } from '../../shared/webhooks/take-due.js';
import { holdUnreadable } from '../../shared/webhooks/unreadable-secrets.js';
import { forAllTests } from '../support/hooks.js';
import { openManualWorker } from '../support/money-flow.js';
import { allStatements } from '../support/query-plans.js';
import { ALLOWANCE, openWebhookFlow } from '../support/webhook-flow.js';

const FINISHED = 20_000;

/** Half of the finished deliveries belong to the endpoint of the statements. */
describe('the statements on deliveries, with 20,000 finished ones in the table', () => {
  const flow = forAllTests(() => openWebhookFlow('delivery_plans', { worker: false }));
  let endpointId: string;
  let eventId: string;
  before(async () => {
    const [own, other] = [await flow.addEndpoint(), await flow.addEndpoint()];
    endpointId = own.id;
    await flow.expireWithoutNotifying(20);
    eventId = (await flow.deliveries(endpointId))[0]?.eventId ?? '';
    await flow.db.transaction(async (trx) => {
      await trx.raw('SET LOCAL session_replication_role = replica');
      await trx.raw(
        `INSERT INTO webhook_deliveries (id, event_id, endpoint_id, status, attempt, tries)
         SELECT 'wd_' || n, :event, CASE n % 2 WHEN 0 THEN :own ELSE :other END,
           (ARRAY['succeeded', 'failed', 'dropped'])[n % 3 + 1], 1, 1
         FROM generate_series(1, CAST(:count AS int)) n`,
        { event: eventId, own: own.id, other: other.id, count: FINISHED },
      );
    });
    await flow.db.raw('VACUUM ANALYZE webhook_deliveries');
  });
  beforeEach(async () => {
    await flow.db('webhookEndpoints').update({ status: 'enabled', failingSince: null });
    await flow
      .db('webhookDeliveries')
      .where({ endpointId, status: 'pending' })
      .update({ dueAt: now(), leasedUntil: null });
  });

  /** The plan of each statement on deliveries, as text. */
  async function plansOf(act: (db: Knex) => Promise<unknown>, explain = 'EXPLAIN'): Promise<string[]> {
    const sent = await allStatements(flow.db, () => act(flow.db));
    const seen = sent.filter(({ sql }) => sql.includes('webhook_deliveries'));
    assert.ok(seen.length > 0);
    const plans: string[] = [];
    const connection = await flow.db.client.acquireConnection();
    for (const { sql, bindings } of seen) {
      const { rows } = await connection.query(`${explain} ${sql}`, bindings);
      plans.push(rows.map((row: object) => Object.values(row)[0]).join('\n'));
    }
    await flow.db.client.releaseConnection(connection);
    return plans;
  }

  const entry = () => ({ at: now().toISOString(), durationMs: 5, status: 500, error: null, answer: '' });

  async function takeOne(db: Knex): Promise<TakenDelivery> {
    const { deliveries } = await takeDueDeliveries(db, flow.merchant.accountId, { ...ALLOWANCE, slots: 1 });
    const [taken] = deliveries;
    assert.ok(taken !== undefined);
    return taken;
  }

  const acts: Record<string, (db: Knex) => Promise<unknown>> = {
    'taking due deliveries': (db) => takeDueDeliveries(db, flow.merchant.accountId, ALLOWANCE),
    'recording a success': async (db) => {
      const taken = await takeOne(db);
      const success = { delivery: taken, entry: entry(), bytesToPassOn: 10_000 };
      await recordSuccess(db, success);
      await recordSuccess(db, { ...success, delivery: { ...taken, attempt: 0 } });
    },
    'recording a failure': async (db) => {
      const { deps } = openManualWorker(flow.app.config, db);
      const taken = await takeOne(db);
      await recordFailure(db, deps.logger, taken, entry());
      const last = { ...(await takeOne(db)), tries: MAX_TRIES - 1 };
      await recordFailure(db, deps.logger, last, entry());
      await deps.facilitators.close();
      deps.chains.close();
    },
    'holding an unreadable endpoint': async (db) => holdUnreadable(db, await takeOne(db)),
    'releasing held deliveries': async (db) => {
      await db('webhookEndpoints').where({ id: endpointId }).update({ sweptTo: '', enabledAt: now() });
      await sweepEndpoints(db);
    },
    'finding accounts with due deliveries': (db) => findDueAccounts(db, '', 1000),
    'sending an event again': (db) => resendEvent(db, eventId, endpointId),
    'dropping pending deliveries': (db) => db.transaction((trx) => dropSome(trx, endpointId)),
  };
  it('measure no more bodies than they take', async () => {
    const onlyOne = { ...ALLOWANCE, slots: 10, bytesPerSlot: 10 };
    const { deliveries } = await takeDueDeliveries(flow.db, flow.merchant.accountId, onlyOne);
    assert.equal(deliveries.length, 1, 'the first body needs more than all slots');
    const act = (db: Knex) => takeDueDeliveries(db, flow.merchant.accountId, onlyOne);
    const plans = await plansOf(act, 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF)');
    const reads = [...plans.join('\n').matchAll(/on events(?: \w+)? \(actual rows=[\d.]+ loops=(\d+)\)/g)];
    assert.deepEqual(
      reads.map(([, loops]) => loops),
      ['1', '1'],
      'its length is measured, and its body is read',
    );
  });

  for (const [what, act] of Object.entries(acts)) {
    it(`read the table by an index: ${what}`, async () => {
      for (const plan of await plansOf(act)) {
        assert.doesNotMatch(plan, /Seq Scan on webhook_deliveries/, plan);
      }
    });
  }

  it('would be found if they scanned the table', async () => {
    const [plan = ''] = await plansOf((db) => db('webhookDeliveries').where({ tries: 7 }));
    assert.match(plan, /Seq Scan on webhook_deliveries/);
  });
});
