import assert from 'node:assert/strict';
import {
  buildMerchant,
  buildPaidSession,
  buildRefund,
  type Merchant,
} from '../../lab/world/shop/factories.js';
import type { Knex } from '../../shared/db/knex.js';
import { Payment } from '../../shared/payments/model.js';
import { foldEntries } from '../../shared/reports/fold.js';
import { lowestIdAt } from '../../shared/values/ids.js';
import { client } from '../support/api-client.js';
import { openTestApp, type TestApp } from '../support/app.js';
import { assertRefused, runCommand, runJson } from '../support/cli.js';
import { useCliDatabase } from '../support/cli-database.js';
import { createMigratedDatabase } from '../support/suite.js';

const BASE = 'eip155:8453';
const days = (from: string, to: string): string[] => ['--from', from, '--to', to];

const SUMS = ['payments', 'amount', 'surplus', 'refunds', 'refunded'] as const;
const sumsOf = (day: Record<(typeof SUMS)[number], number>): number[] => SUMS.map((name) => day[name]);

describe('merchants totals and export', () => {
  let databaseUrl: string;
  let app: TestApp;
  let db: Knex;
  let shop: Merchant;
  let other: Merchant;
  before(async () => {
    databaseUrl = await createMigratedDatabase('accounting');
    app = await openTestApp({ DATABASE_URL: databaseUrl });
    db = app.db;
    [shop, other] = [await buildMerchant(db), await buildMerchant(db)];
  });
  useCliDatabase(() => databaseUrl);
  after(() => app.close());

  let count = 0;
  /** A payment that was claimed and settled at this time. */
  async function paid(at: string, { accountId }: Merchant, changes: Partial<Payment> = {}): Promise<Payment> {
    const ms = new Date(at).getTime();
    count += 1;
    const transaction = `0x${count.toString(16).padStart(64, '0')}`;
    const id = `${lowestIdAt('pay_', ms)}${String(count).padStart(20, '0')}`;
    const values = { id, settledAt: new Date(ms), transaction, payloadKey: `key ${count}`, ...changes };
    return (await buildPaidSession(db, accountId, values)).payment;
  }

  it('sums the days of each account, mode, token and network', async () => {
    await paid('2026-03-01T00:00:00Z', shop);
    await paid('2026-03-01T23:59:59Z', shop, { surplus: true });
    await paid('2026-03-01T12:00:00Z', shop, { network: BASE, livemode: true });
    await paid('2026-03-02T00:00:00Z', other, { token: 'USDT' });
    await paid('2026-03-03T12:00:00Z', shop);
    const { totals } = await runJson('totals', ...days('2026-03-01', '2026-03-02'));
    assert.deepEqual(
      totals.map((row) => [row.date, row.account, row.livemode, row.token, row.network, row.payments]),
      [
        ['2026-03-01', shop.accountId, true, 'USDC', BASE, 1],
        ['2026-03-01', shop.accountId, false, 'USDC', 'eip155:84532', 1],
        ['2026-03-02', other.accountId, false, 'USDT', 'eip155:84532', 1],
      ],
    );
    assert.deepEqual(totals.map(sumsOf), [
      [1, 450, 0, 0, 0],
      [1, 450, 450, 0, 0],
      [1, 450, 0, 0, 0],
    ]);
    const own = await runJson('totals', ...days('2026-03-01', '2026-03-09'), '--account', other.accountId);
    assert.deepEqual(
      own.totals.map(({ date }) => date),
      ['2026-03-02'],
    );
    assert.deepEqual((await runJson('totals', ...days('2026-02-01', '2026-02-28'))).totals, []);
  });

  it('sums as the daily reports do: folded, archived, surplus and undated payments', async () => {
    const merchant = await buildMerchant(db);
    const archived = await paid('2026-02-10T09:00:00Z', merchant);
    const claimedAt = new Date('2026-02-10T10:00:00Z');
    await paid('2026-02-10T10:00:00Z', merchant, { settledAt: null, claimedAt });
    await foldEntries(db, 10_000);
    await Payment.query(db).deleteById(archived.id);
    const settledAt = new Date('2026-01-01T00:00:00Z');
    const refund = await buildRefund(db, merchant.accountId, {}, { settledAt });
    await paid('2026-02-10T11:00:00Z', merchant, { payableId: refund.id, surplus: true });
    const ofDay = [...days('2026-02-10', '2026-02-10'), '--account', merchant.accountId];
    const { totals } = await runJson('totals', ...ofDay);
    assert.deepEqual(totals.map(sumsOf), [[2, 900, 0, 0, 0]]);
    const shop = client(app, merchant.testKey);
    const { body } = await shop.get('/v1/reports/daily?from=2026-02-10&to=2026-02-10').expect(200);
    assert.deepEqual(sumsOf(body.data[0]), [2, 900, 0, 0, 0]);
  });

  it('counts what merchants paid back as refunds', async () => {
    const refund = await buildRefund(db, shop.accountId);
    await paid('2026-04-02T10:00:00Z', shop, { payableId: refund.id });
    const { totals } = await runJson('totals', ...days('2026-04-02', '2026-04-02'));
    assert.deepEqual(totals.map(sumsOf), [[0, 0, 0, 1, 450]]);
  });

  it('asks for no day before the first payment', async () => {
    const dates = async (...argv: string[]): Promise<string[]> =>
      (await runJson('totals', ...argv)).totals.map(({ date }) => date);
    await foldEntries(db, 10_000);
    const merchant = await buildMerchant(db);
    const ofAll = [...days('0000-01-01', '9999-12-31'), '--account', merchant.accountId];
    assert.deepEqual(await dates(...ofAll), []);
    await paid('2026-05-02T23:00:00Z', merchant);
    assert.deepEqual(await dates(...ofAll), ['2026-05-02']);
    await foldEntries(db, 10_000);
    await paid('2026-05-04T01:00:00Z', merchant, { livemode: true });
    assert.deepEqual(await dates(...ofAll), ['2026-05-02', '2026-05-04']);
    assert.deepEqual(await dates(...days('0000-01-01', '2026-02-28')), ['2026-01-01', '2026-02-10']);
  });

  it('writes totals as CSV, with amounts as decimal text', async () => {
    const args = [...days('2026-03-01', '2026-03-02'), '--csv'];
    const { status, stdout } = await runCommand('totals', ...args);
    assert.equal(status, 0);
    const [head, ...lines] = stdout.trimEnd().split('\r\n');
    assert.match(head ?? '', /^date,account,livemode,currency,token,network,network_name,payments,amount,/);
    assert.equal(
      lines[1],
      `2026-03-01,${shop.accountId},false,usd,USDC,eip155:84532,Base Sepolia,1,4.50,4.50,0,0.00`,
    );
    assert.equal(lines.length, 3);
  });

  it("exports an account's payments as CSV and as JSON, newest first, live before test", async () => {
    const all = await Payment.query(db)
      .where({ accountId: shop.accountId })
      .where('payableId', 'like', 'cs\\_%');
    const expected = [true, false].flatMap((livemode) =>
      all
        .filter((payment) => payment.livemode === livemode)
        .map(({ id }) => id)
        .sort()
        .reverse(),
    );
    const csv = await runCommand('export', 'payments', '--account', shop.accountId);
    assert.equal(csv.status, 0, csv.stderr);
    const [head = '', ...lines] = csv.stdout.trimEnd().split('\r\n');
    assert.match(head, /^id,created,settled_at,status,amount,currency,token,token_amount,network,/);
    assert.deepEqual(
      lines.map((line) => line.split(',')[0]),
      expected,
    );
    assert.match(csv.stderr, new RegExp(`rows: ${expected.length}`));
    const json = await runCommand('export', 'payments', '--account', shop.accountId, '--json');
    assert.deepEqual(
      JSON.parse(json.stdout).payments.map(({ id }: { id: string }) => id),
      expected,
    );
    const part = ['--from', '2026-03-01T12:00:00Z', '--to', '2026-03-01', '--json'];
    const { stdout } = await runCommand('export', 'payments', '--account', shop.accountId, ...part);
    assert.equal(JSON.parse(stdout).payments.length, 2);
  });

  it('exports every row, over many pages, and refunds', async () => {
    const many = await buildMerchant(db);
    const refund = await buildRefund(db, many.accountId);
    await db.raw(
      `INSERT INTO payables (id, account_id, livemode, status, amount_total_cents, line_items, metadata, expires_at,
        refunded_payment_id, refund)
      SELECT 're_0V' || lpad(n::text, 26, '0'), account_id, livemode, 'open', 1, '[]', '{}', now(), refunded_payment_id, refund
      FROM payables, generate_series(1, 2100) n WHERE id = ?`,
      [refund.id],
    );
    const { stdout } = await runCommand('export', 'refunds', '--account', many.accountId);
    assert.equal(stdout.trimEnd().split('\r\n').length, 1 + 2101);
    const json = await runCommand('export', 'refunds', '--account', many.accountId, '--json');
    assert.equal(JSON.parse(json.stdout).refunds.length, 2101);
    const none = await runCommand('export', 'refunds', '--account', other.accountId, '--json');
    assert.deepEqual(JSON.parse(none.stdout), { refunds: [] });
  });

  it('refuses what it cannot use with one line', async () => {
    const range = [...days('2026-03-02', '2026-03-01')];
    await assertRefused(/--from is missing/, 'totals', '--to', '2026-03-01');
    await assertRefused(/--from must not be later/, 'totals', ...range);
    await assertRefused(/--from must be a date/, 'totals', '--from', 'monday', '--to', '2026-03-01');
    await assertRefused(/Give either --csv or --json/, 'totals', ...range, '--csv', '--json');
    await assertRefused(/--account is missing/, 'export', 'payments');
    await assertRefused(/Only payments or refunds/, 'export', 'events', '--account', shop.accountId);
    await assertRefused(/No such account/, 'export', 'payments', '--account', 'acct_none');
    const own = ['--account', shop.accountId, ...range];
    await assertRefused(/--from must not be later/, 'export', 'payments', ...own);
  });
});
