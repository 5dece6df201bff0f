import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { buildEndpoints, buildPaidSession } from '../../lab/world/shop/factories.js';
import { Payment } from '../../shared/payments/model.js';
import { openTestApp, type TestApp } from '../support/app.js';
import { assertRefused, runCommand, runJson } from '../support/cli.js';
import { useCliDatabase } from '../support/cli-database.js';
import { buildPaidAndDelivered, inMonth } from '../support/months.js';
import { assertReport } from '../support/report-sums.js';
import { buildShop } from '../support/shop.js';
import { createMigratedDatabase } from '../support/suite.js';

describe('merchants rebuild-reports', () => {
  let app: TestApp;
  let url: string;
  useCliDatabase(() => url);
  before(async () => {
    url = await createMigratedDatabase('rebuild_reports');
    process.env.DATABASE_URL = url;
    app = await openTestApp({ DATABASE_URL: url });
  });
  after(() => app.close());

  it('counts totals anew from the payments, and is audited', async () => {
    const shop = await buildShop(app);
    const { accountId } = shop;
    for (const day of ['2026-07-01', '2026-07-02', '2026-07-03'])
      await buildPaidSession(app.db, accountId, { settledAt: new Date(`${day}T10:00:00Z`) });
    await app.db('reportEntries').where({ accountId }).delete();
    await app.db('reportTotals').insert({
      ...{
        accountId,
        livemode: false,
        span: 1440,
        startsAt: new Date('2026-07-02T00:00:00Z'),
        archived: false,
      },
      ...{ token: 'USDC', network: 'eip155:84532', payments: 9, amount: 9, tokenAmount: 9 },
      ...{ refunds: 0, refunded: 0, surplus: 0 },
    });
    const counts = async (): Promise<number[]> => {
      const { body } = await shop.test.get('/v1/reports/daily?from=2026-07-01&to=2026-07-03').expect(200);
      return body.data.map(({ payments }: { payments: number }) => payments);
    };
    assert.deepEqual(await counts(), [0, 9, 0]);
    const range = ['--from', '2026-07-02', '--to', '2026-07-02'];
    const answer = await runJson('rebuild-reports', '--account', accountId, ...range);
    assert.deepEqual(answer, { accounts: 1, payments_read: 3 });
    assert.deepEqual(await counts(), [0, 1, 0]);
    const [action] = (await runJson('audit', '--limit', '1')).actions;
    assert.deepEqual([action?.what, action?.about], ['rebuild-reports', accountId]);
    const all = await runJson('rebuild-reports');
    assert.ok(all.accounts > 0);
    const payments = await Payment.query(app.db).where({ accountId });
    await assertReport(shop.test, payments, { from: '2026-07-01', to: '2026-07-03' });
  });

  it('keeps the payments that are archived', async () => {
    const shop = await buildShop(app);
    const { accountId } = shop;
    const [endpointId = ''] = await buildEndpoints(app.db, accountId, 1);
    const settled = { settledAt: new Date('2024-03-16T10:00:00Z') };
    const { payment } = await inMonth('2024-03', () =>
      buildPaidAndDelivered(app.db, { accountId, endpointId, payment: settled }),
    );
    const folder = await mkdtemp(path.join(os.tmpdir(), 'rebuild-reports-'));
    const archived = await runCommand('archive', '--before', '2024-04', '--to', folder);
    assert.equal(archived.status, 0, archived.stderr);
    assert.equal((await Payment.query(app.db).where({ accountId })).length, 0);
    const range = { from: '2024-03-15', to: '2024-03-17', timezone: 'Asia/Kathmandu' };
    await assertReport(shop.test, [payment], range);
    await runJson('rebuild-reports', '--account', accountId);
    await assertReport(shop.test, [payment], range);
    await rm(folder, { recursive: true });
  });

  it('refuses what is no day, days that run backwards, and an unknown account', async () => {
    await assertRefused(/--from must be a date/, 'rebuild-reports', '--from', '2026-02-30');
    await assertRefused(/--to must be a date/, 'rebuild-reports', '--to', 'yesterday');
    const backwards = ['--from', '2026-07-03', '--to', '2026-07-02'];
    await assertRefused(/--from must not be later/, 'rebuild-reports', ...backwards);
    await assertRefused(/No such account/, 'rebuild-reports', '--account', 'acct_none');
  });
});
