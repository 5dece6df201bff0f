import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { buildEndpoints, EVM_WALLET, SOLANA_WALLET } from '../../lab/world/shop/factories.js';
import { demoMerchantKey } from '../../local/demo/demo-merchant.js';
import { makeUpPayments } from '../../local/demo/demo-payments.js';
import { Payable } from '../../shared/payables/model.js';
import { Payment } from '../../shared/payments/model.js';
import { createdAt } from '../../shared/values/ids.js';
import { Event, WebhookDelivery } from '../../shared/webhooks/model.js';
import { client } from '../support/api-client.js';
import { openTestApp, type TestApp } from '../support/app.js';
import { readPage } from '../support/pages.js';
import { assertWholeReport } from '../support/report-sums.js';

const DAY_MS = 86_400_000;

describe("the demo merchant's payments", () => {
  let app: TestApp;
  let folder: string;
  before(async () => {
    app = await openTestApp();
    folder = await mkdtemp(path.join(os.tmpdir(), 'demo-'));
  });
  after(async () => {
    await app.close();
    await rm(folder, { recursive: true });
  });

  it('are made up once: thirty days, marked, in the reports, told to nobody', async () => {
    let made = 0;
    let account = '';
    const now = Date.now();
    const start = (): Promise<string> =>
      demoMerchantKey(app.db, folder, async (trx, accountId) => {
        made += 1;
        account = accountId;
        await buildEndpoints(trx, accountId, 1);
        const wallets = { evmWallet: EVM_WALLET, solanaWallet: SOLANA_WALLET };
        await makeUpPayments(trx, { accountId, ...wallets, baseUrl: 'http://localhost:3000' }, now);
      });
    const key = await start();
    assert.equal(await start(), key);
    assert.equal(made, 1);

    const own = { accountId: account };
    const payments = await Payment.query(app.db).where(own);
    const days = new Set(payments.map(({ settledAt }) => settledAt?.toISOString().slice(0, 10)));
    assert.ok(days.size >= 30, `${days.size} days`);
    for (const { id } of payments) assert.ok(createdAt(id).getTime() < now - DAY_MS, id);
    assert.equal(payments.filter(({ status }) => status === 'failed').length, 1);
    assert.deepEqual(await Payment.query(app.db).where(own).whereNotNull('dueAt'), []);
    const payables = await Payable.query(app.db).where(own);
    for (const { id, metadata } of payables) assert.deepEqual(metadata, { demo: 'true' }, id);
    const events = await Event.query(app.db).where(own);
    assert.ok(events.length >= payables.length);
    const deliveries = await WebhookDelivery.query(app.db).whereIn(
      'eventId',
      events.map(({ id }) => id),
    );
    assert.deepEqual(deliveries, []);

    const api = client(app, key);
    await assertWholeReport(api, app.db, account);
    const lists = ['checkout/sessions', 'payments', 'refunds', 'events'];
    for (const list of lists)
      assert.equal((await readPage(api, `/v1/${list}?limit=100`)).data.length > 3, true);
    const { data } = await readPage(api, '/v1/refunds');
    assert.deepEqual(
      data.map(({ status }) => status),
      ['requires_action', 'canceled', 'succeeded', 'succeeded'],
    );
    const { data: found } = await readPage(api, '/v1/payments?transaction=demo-0007');
    assert.equal(found.length, 1);
    assert.equal(found[0]?.transaction_url, null);
    const session = await api.get(`/v1/checkout/sessions/${found[0]?.checkout_session}?expand[]=line_items`);
    assert.match(session.body.line_items.data[0].description, /\(demo\)$/);
  });
});
