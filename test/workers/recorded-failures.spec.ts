import assert from 'node:assert/strict';
import { now } from '../../shared/process/clock.js';
import { recordFailure } from '../../shared/webhooks/record-failure.js';
import { type TakenDelivery, takeDueDeliveries } from '../../shared/webhooks/take-due.js';
import { emptyTables } from '../support/empty-tables.js';
import { forAllTests } from '../support/hooks.js';
import { allStatements } from '../support/query-plans.js';
import { ALLOWANCE, openWebhookFlow } from '../support/webhook-flow.js';

/** No more than three batches are in flight, and the first one starts with the first failure. */
const MOST_STATEMENTS = 4;
/** The tries of a delivery. */
const TRIES = 14;

describe('failed tries of webhooks', () => {
  const flow = forAllTests(() => openWebhookFlow('recorded_failures', { worker: false }));
  let endpointId: string;
  let taken: TakenDelivery[];
  before(async () => {
    endpointId = (await flow.addEndpoint()).id;
    await flow.db('webhookEndpoints').update({ failingSince: now() });
  });
  beforeEach(async () => {
    await emptyTables(flow.db, 'webhook_deliveries');
    await flow.db('webhookEndpoints').update({ status: 'enabled', enabledAt: null });
    await flow.expireWithoutNotifying(20);
    taken = [];
    // A failing endpoint has few slots, so each round ends the leases of the round before.
    while (taken.length < 20) {
      taken.push(...(await takeDueDeliveries(flow.db, flow.merchant.accountId, ALLOWANCE)).deliveries);
      await flow
        .db('webhookDeliveries')
        .where({ endpointId })
        .whereNotNull('leasedUntil')
        .update({ leasedUntil: now() });
    }
  });

  const entry = () => ({ at: now().toISOString(), durationMs: 5, status: 500, error: null, answer: 'no' });
  const fail = (delivery: TakenDelivery) => recordFailure(flow.db, flow.app.logger, delivery, entry());

  it('of one moment share statements, and each is due after its own pause', async () => {
    let dueAt: Awaited<ReturnType<typeof fail>>[] = [];
    const sent = await allStatements(flow.db, async () => {
      dueAt = await Promise.all(taken.map((one, index) => fail({ ...one, tries: index % 2 })));
    });
    const written = sent.filter(({ sql }) => /UPDATE webhook_deliveries/i.test(sql));
    assert.ok(written.length <= MOST_STATEMENTS, `${written.length} statements`);
    const rows = await flow.deliveries(endpointId);
    for (const [index, { id }] of taken.entries()) {
      const row = rows.find((one) => one.id === id);
      assert.deepEqual(row?.dueAt, dueAt[index]);
      assert.deepEqual([row?.tries, row?.leasedUntil, row?.history.length], [1, null, 1]);
    }
  });

  it('write nothing once another worker has taken the delivery, and spare the others', async () => {
    const [over, other] = taken;
    assert.ok(over !== undefined && other !== undefined);
    const dueAt = await Promise.all([fail({ ...over, attempt: over.attempt - 1 }), fail(other)]);
    assert.deepEqual(
      dueAt.map((one) => one !== undefined),
      [false, true],
    );
    const [row] = await flow.db('webhookDeliveries').where({ id: over.id });
    assert.deepEqual([row.tries, row.history], [0, []]);
  });

  it('are written once the row is free, and hold up no others', async () => {
    const [locked, other] = taken;
    assert.ok(locked !== undefined && other !== undefined);
    const waits = await flow.db.transaction(async (trx) => {
      await trx('webhookDeliveries').where({ id: locked.id }).forUpdate();
      const failure = fail(locked);
      assert.ok(await fail(other));
      const state = await Promise.race([failure.then(() => 'written'), fail(other).then(() => 'waits')]);
      assert.equal(state, 'waits');
      return { failure };
    });
    assert.ok(await waits.failure);
    const [row] = await flow.db('webhookDeliveries').where({ id: locked.id });
    assert.equal(row.tries, 1);
  });

  describe('of which the last disables the endpoint', () => {
    /** The status of the endpoint after a last try during which its owner changed it. */
    async function statusAfterLastTry(change: () => object): Promise<string> {
      const [last] = taken;
      assert.ok(last !== undefined);
      const tried = entry();
      await flow.db('webhookEndpoints').where({ id: endpointId }).update(change());
      await recordFailure(flow.db, flow.app.logger, { ...last, tries: TRIES - 1 }, tried);
      const [delivery] = await flow.db('webhookDeliveries').where({ id: last.id });
      assert.equal(delivery.status, 'failed');
      return (await flow.db('webhookEndpoints').where({ id: endpointId }).first()).status;
    }

    it('do so when its owner has changed something else meanwhile', async () => {
      assert.equal(await statusAfterLastTry(() => ({ description: 'Till 2' })), 'disabled');
    });

    it('leave it enabled when its owner has given it another URL meanwhile', async () => {
      const { url } = await flow.db('webhookEndpoints').where({ id: endpointId }).first();
      assert.equal(await statusAfterLastTry(() => ({ url: `${url}/moved` })), 'enabled');
      await flow.db('webhookEndpoints').where({ id: endpointId }).update({ url });
    });

    it('leave it enabled when its owner has enabled it again meanwhile', async () => {
      assert.equal(await statusAfterLastTry(() => ({ enabledAt: now() })), 'enabled');
    });
  });
});
