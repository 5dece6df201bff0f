import assert from 'node:assert/strict';
import request, { type Response } from 'supertest';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { buildMerchant, type Merchant } from '../../../lab/world/shop/factories.js';
import { type Knex, poolUse } from '../../../shared/db/knex.js';
import { newId } from '../../../shared/values/ids.js';
import { assertRefusal, type Client, client } from '../../support/api-client.js';
import { forAllTests } from '../../support/hooks.js';
import { openWebhookFlow } from '../../support/webhook-flow.js';

const LINE_ITEMS = [{ price_data: { unit_amount: 450, product_data: { name: 'Coffee' } } }];
const POOL = 6;
const SHARE = 2;
const AT_ONCE = 150;

describe('requests of one account that wait for one row', () => {
  const flow = forAllTests(() =>
    openWebhookFlow('connection_shares', {
      worker: false,
      environment: { DATABASE_POOL_SIZE: String(POOL) },
    }),
  );
  let other: Merchant & { api: Client };
  before(async () => {
    const merchant = await buildMerchant(flow.db);
    other = { ...merchant, api: client(flow.app, merchant.testKey) };
  });

  /** Locks the row in a transaction that is left open. */
  async function lock(table: string, id: string): Promise<Knex.Transaction> {
    const trx = await flow.db.transaction();
    await trx.raw('SELECT FROM ?? WHERE id = ? FOR UPDATE', [table, id]);
    return trx;
  }

  interface Waiting {
    pid: number;
    since: string;
  }

  const waitingForLock = async (): Promise<Waiting[]> =>
    (
      await flow.db.raw(
        `SELECT pid, xact_start::text AS since FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      )
    ).rows;

  function assertBusy(res: Response): void {
    const isLocked = res.status === 503;
    assertRefusal(res, isLocked ? 503 : 429, isLocked ? 'service_unavailable' : 'rate_limit');
    assert.ok(Number(res.get('Retry-After')) >= 1);
  }

  it('leave connections to other accounts, and end with 429 or 503', async () => {
    const hook = await flow.addEndpoint();
    const blocker = await lock('webhook_endpoints', hook.id);
    const update = () => flow.api.post(`/v1/webhook_endpoints/${hook.id}`, { description: 'x' });
    const hogging = Array.from({ length: AT_ONCE }, async () => await update());
    await eventually(async () => assert.equal((await waitingForLock()).length, SHARE));
    for (let n = 0; n < 20; n += 1) {
      const { body } = await other.api.post('/v1/checkout/sessions', { line_items: LINE_ITEMS }).expect(200);
      await other.api.post(`/v1/checkout/sessions/${body.id}/expire`).expect(200);
      assert.equal((await request(flow.app.server).get('/readyz')).status, 200);
      assert.ok((await waitingForLock()).length <= SHARE);
    }
    const answers = await Promise.all(hogging);
    for (const res of answers) assertBusy(res);
    assert.ok(answers.some(({ status }) => status === 503));
    await blocker.rollback();
    assert.equal((await update().expect(200)).body.description, 'x');
    assert.equal(poolUse(flow.app.db).used, 0);
  });

  it('are tried once more when the lock was not free in time', async () => {
    const hook = await flow.addEndpoint();
    const blocker = await lock('webhook_endpoints', hook.id);
    const update = flow.api.post(`/v1/webhook_endpoints/${hook.id}`, { description: 'late' });
    const answered = update.then(({ status }) => status);
    let first: Waiting | undefined;
    await eventually(async () => {
      const [waiting] = await waitingForLock();
      first ??= waiting;
      assert.ok(waiting !== undefined && first !== undefined && waiting.since !== first.since);
    }, 20_000);
    await blocker.rollback();
    assert.equal(await answered, 200);
    assert.equal((await flow.endpoint(hook.id)).description, 'late');
  });

  it('at a link are told to try again, with nothing claimed, and pay when the row is free', async () => {
    const { id } = await flow.buildSession();
    const payments = await Promise.all(Array.from({ length: 10 }, () => flow.sign(id)));
    const blocker = await lock('payables', id);
    const paying = payments.map(
      async ({ header }) => await flow.send('get', id, { 'PAYMENT-SIGNATURE': header }),
    );
    await eventually(async () => assert.ok((await waitingForLock()).length > 0));
    for (let n = 0; n < 5; n += 1) {
      assert.ok((await waitingForLock()).length <= SHARE);
      await other.api.post('/v1/checkout/sessions', { line_items: LINE_ITEMS }).expect(200);
    }
    for (const res of await Promise.all(paying)) {
      assert.deepEqual([res.status, res.body.error.code], [503, 'payment_service_unavailable']);
      assert.ok(Number(res.get('Retry-After')) >= 1);
    }
    await blocker.rollback();
    assert.equal((await flow.payments(id)).length, 0);
    const worker = await flow.startWorker();
    const [{ header } = assert.fail()] = payments;
    assert.equal((await flow.send('get', id, { 'PAYMENT-SIGNATURE': header })).status, 200);
    await worker.close();
  });

  it('are not confused with a missing object', async () => {
    await flow.api.post(`/v1/webhook_endpoints/${newId('we_')}`, { description: 'x' }).expect(404);
  });
});
