import assert from 'node:assert/strict';
import request from 'supertest';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { type Knex, openDatabase } from '../../../shared/db/knex.js';
import { settlePayment } from '../../../workers/jobs/settle-payment.js';
import { PAID, UNTOUCHED } from '../../support/checkout.js';
import { forAllTests } from '../../support/hooks.js';
import { type MoneyFlow, openMoneyFlow } from '../../support/money-flow.js';

const TIMEOUT_MS = 200;

describe('a database whose sessions have a timeout', () => {
  const flow = forAllTests(() =>
    openMoneyFlow('timeouts', { worker: false, environment: { SETTLE_WAIT_MS: '0' } }),
  );
  const worker = forAllTests(() => flow.openManualWorker());

  async function alterDatabase(db: Knex, change: string): Promise<void> {
    await db.raw(`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I ${change}', current_database()); END $$`);
  }

  /** Runs with a pool whose connections have the timeout. */
  async function withTimeoutOf(setting: string, run: (db: Knex) => Promise<void>): Promise<void> {
    await alterDatabase(flow.db, `SET ${setting} = ${TIMEOUT_MS}`);
    const db = openDatabase(worker.deps.config.database);
    try {
      await run(db);
    } finally {
      await alterDatabase(flow.db, `RESET ${setting}`);
      await db.destroy();
    }
  }

  async function lock({ db }: MoneyFlow, sessionId: string): Promise<Knex.Transaction> {
    const holder = await db.transaction();
    await holder.raw('SELECT 1 FROM payables WHERE id = ? FOR UPDATE', [sessionId]);
    return holder;
  }

  const STATES = { statement_timeout: '57014', lock_timeout: '55P03', transaction_timeout: '25P04' };
  for (const [setting, state] of Object.entries(STATES)) {
    it(`lets the facilitator's answer be written again until the session's row is free: ${setting}`, async () => {
      const { id } = await flow.buildSession();
      assert.equal((await flow.pay(id)).status, 202);
      const { id: paymentId } = await flow.onlyPayment(id);
      // An unreadable chain leaves the facilitator's answer as the only witness of the payment.
      flow.chain.endpoint.fail('http_500');
      await withTimeoutOf(setting, async (db) => {
        const holder = await lock(flow, id);
        const settled = settlePayment({ ...worker.deps, db }, { paymentId });
        try {
          const isRefused = eventually(() => {
            const refused = worker.log.filter(({ event }) => event === 'payment.written_again');
            assert.match(JSON.stringify(refused.at(-1) ?? {}), new RegExp(state));
          });
          await Promise.race([settled, isRefused]);
        } finally {
          await holder.commit();
        }
        await settled;
      }).finally(() => flow.chain.endpoint.recover());
      assert.deepEqual(await flow.state(id), PAID);
    });
  }

  it('has merchants and buyers told to try again, with nothing done: statement_timeout', async () => {
    const web = await openMoneyFlow('timeouts_of_web', {
      worker: false,
      environment: { SETTLE_WAIT_MS: '0' },
      async around(url) {
        const db = openDatabase({ ...worker.deps.config.database, url });
        await alterDatabase(db, `SET statement_timeout = ${TIMEOUT_MS}`);
        await db.destroy();
        return {};
      },
    });
    try {
      const { id } = await web.buildSession();
      const { header } = await web.sign(id);
      const holder = await lock(web, id);
      try {
        const expired = await request(web.app.server)
          .post(`/v1/checkout/sessions/${id}/expire`)
          .auth(web.merchant.testKey, { type: 'bearer' });
        assert.deepEqual([expired.status, expired.body.error?.code], [503, 'service_unavailable']);
        assert.notEqual(expired.headers['retry-after'], undefined);
        const paid = await web.visit(id, { 'PAYMENT-SIGNATURE': header });
        assert.deepEqual([paid.status, paid.body.error?.code], [503, 'payment_service_unavailable']);
        assert.notEqual(paid.headers['retry-after'], undefined);
      } finally {
        await holder.rollback();
      }
      assert.deepEqual(await web.state(id), UNTOUCHED);
      assert.equal((await web.visit(id, { 'PAYMENT-SIGNATURE': header })).status, 202);
    } finally {
      await web.close();
    }
  });
});
