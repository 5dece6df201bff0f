import assert from 'node:assert/strict';
import { TcpProxy } from '../../lab/world/proxy/tcp-proxy.js';
import { loadConfig } from '../../shared/config/config.js';
import { type Knex, openDatabase } from '../../shared/db/knex.js';
import { Payable } from '../../shared/payables/model.js';
import type { Payment } from '../../shared/payments/model.js';
import { now, nowMs, resetClock } from '../../shared/process/clock.js';
import { expireOverdueSessions } from '../../shared/settlement/expire-overdue.js';
import { resolvePayment } from '../../shared/settlement/resolve.js';
import { pauseAfterTriesMs } from '../../shared/webhooks/backoff.js';
import { recordFailure } from '../../shared/webhooks/record-failure.js';
import { type TakenDelivery, takeDueDeliveries } from '../../shared/webhooks/take-due.js';
import { emptyTables } from '../support/empty-tables.js';
import { forAllTests } from '../support/hooks.js';
import { payAndBeDenied, send } from '../support/late-money.js';
import { loggerWithLines } from '../support/log-lines.js';
import { EVENT_DEPS, openMoneyFlow } from '../support/money-flow.js';
import { ALLOWANCE, openWebhookFlow } from '../support/webhook-flow.js';

const COMMIT = /COMMIT;/;
const REFUSED = /the commit is refused/;

/** While `work` runs, Postgres finds out at COMMIT that it cannot carry out a transaction that changes the table. */
async function whileCommitsAreRefused(db: Knex, table: string, work: () => Promise<void>): Promise<void> {
  await db.raw(`CREATE OR REPLACE FUNCTION refuse_commit() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'the commit is refused'; END $$`);
  await db.raw(`CREATE CONSTRAINT TRIGGER refused AFTER UPDATE ON ${table}
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse_commit()`);
  await work().finally(() => db.raw(`DROP TRIGGER refused ON ${table}`));
}

describe('the last try of a webhook', () => {
  const flow = forAllTests(() => openWebhookFlow('told_deliveries', { worker: false }));
  const GIVEN_UP = ['delivery.given_up', 'webhook_endpoint.disabled'];
  let lastTry: TakenDelivery;
  let log: ReturnType<typeof loggerWithLines<{ event: string }>>;
  beforeEach(async () => {
    await emptyTables(flow.db, 'webhook_deliveries', 'webhook_endpoints');
    await flow.addEndpoint();
    await flow.db('webhookEndpoints').update({ failingSince: now() });
    await flow.expireWithoutNotifying(1);
    const { deliveries } = await takeDueDeliveries(flow.db, flow.merchant.accountId, ALLOWANCE);
    let tries = 0;
    while (pauseAfterTriesMs(tries + 1) !== undefined) tries += 1;
    const [taken] = deliveries;
    assert.ok(taken !== undefined);
    lastTry = { ...taken, tries };
    log = loggerWithLines();
  });

  const fail = (db: Knex): Promise<unknown> => {
    const entry = { at: now().toISOString(), durationMs: 5, status: 500, error: null, answer: 'no' };
    return recordFailure(db, log.logger, lastTry, entry);
  };
  const said = (): string[] => log.lines.map(({ event }) => event);
  const statuses = async (): Promise<string[]> => [
    (await flow.db('webhookDeliveries').first()).status,
    (await flow.db('webhookEndpoints').first()).status,
  ];

  it('is told as given up after its COMMIT, not when that is refused', async () => {
    await whileCommitsAreRefused(flow.db, 'webhook_deliveries', () => assert.rejects(fail(flow.db), REFUSED));
    assert.deepEqual([said(), await statuses()], [[], ['pending', 'enabled']]);
    await fail(flow.db);
    assert.deepEqual([said(), await statuses()], [GIVEN_UP, ['failed', 'disabled']]);
  });

  it('is told once when its COMMIT gets no answer', async () => {
    const proxy = await TcpProxy.start(flow.databaseUrl);
    const db = openDatabase(loadConfig({ DATABASE_URL: proxy.url }, 'migrate').database);
    try {
      proxy.cutNext(COMMIT, { answerBytes: 0 });
      await assert.rejects(fail(db));
      await fail(db);
      assert.deepEqual([said(), await statuses()], [GIVEN_UP, ['failed', 'disabled']]);
    } finally {
      await db.destroy();
      await proxy.refuse();
    }
  });
});

describe('the success of a payment', () => {
  const flow = forAllTests(() => openMoneyFlow('told_payments', { worker: false }));
  const manualWorker = forAllTests(() => flow.openManualWorker());
  beforeEach(() => void manualWorker.log.splice(0));
  afterEach(() => resetClock());

  const said = (): unknown[] => manualWorker.log.map(({ event }) => event);

  it('that comes after the expiry is told after its COMMIT, not when that is refused', async () => {
    const { id } = await flow.buildSession();
    const payment = await payAndBeDenied(flow, manualWorker, id);
    await Payable.query(flow.db)
      .patch({ expiresAt: new Date(nowMs() - 1000) })
      .where({ id });
    await expireOverdueSessions(flow.db, 10, EVENT_DEPS);
    await whileCommitsAreRefused(flow.db, 'payables', () =>
      assert.rejects(manualWorker.doNext(payment), REFUSED),
    );
    assert.deepEqual([said(), (await flow.session(id)).status], [[], 'expired']);
    await flow.db('payments').where({ id: payment }).update({ dueAt: now() });
    await manualWorker.doNext(payment);
    assert.deepEqual([said(), (await flow.session(id)).status], [['payment.after_expiry'], 'complete']);
  });

  it('by an operator is told after the COMMIT of the command around it', async () => {
    const { id } = await flow.buildSession();
    const { id: payment, answer } = await send(flow, id);
    const resolve = (db: Knex): Promise<Payment> =>
      resolvePayment({ ...manualWorker.deps, db }, payment, {
        kind: 'paid',
        transaction: `0x${'1'.repeat(64)}`,
      });
    const rolledBack = flow.db.transaction(async (trx) => {
      await resolve(trx);
      throw new Error('the audit row cannot be written');
    });
    await assert.rejects(rolledBack, /audit/);
    assert.deepEqual([said(), (await flow.session(id)).status], [[], 'processing']);
    await flow.db.transaction(resolve);
    assert.deepEqual([said(), await answer], [['payment.resolved_by_operator'], '200 complete']);
  });
});
