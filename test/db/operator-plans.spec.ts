import assert from 'node:assert/strict';
import { seedDatabase } from '../../lab/bench/growth/seed.js';
import { loadConfig } from '../../shared/config/config.js';
import { type Knex, openDatabase } from '../../shared/db/knex.js';
import { searchByText } from '../../shared/operator-reads/search.js';
import { readDayOfAccounts, readFirstDay } from '../../shared/reports/read.js';
import { refuseIfPaidAnother } from '../../shared/settlement/resolve.js';
import { tableReads } from '../support/query-plans.js';
import { createMigratedDatabase } from '../support/suite.js';

const COUNTS = {
  accounts: 300,
  sessions: 5000,
  payments: 2500,
  deliveries: 300,
  idempotencyRecords: 1,
};
/** Each account is asked in both modes. A search of any text here finds nothing. */
const MOST_ROWS = 2 * COUNTS.accounts;
/** Each account is asked, so tables with a row or two of each are read as a whole. */
const READ_AS_A_WHOLE = ['accounts', 'payout_wallets'];

describe("query plans of an operator's commands", () => {
  let db: Knex;
  before(async () => {
    const url = await createMigratedDatabase('operator_plans');
    db = openDatabase(loadConfig({ DATABASE_URL: url }, 'cli').database);
    await seedDatabase(db, COUNTS);
  });
  after(() => db.destroy());

  async function assertIndexed(act: () => Promise<unknown>): Promise<void> {
    for (const { table, index, rows, scan } of await tableReads(db, act))
      if (!READ_AS_A_WHOLE.includes(table))
        assert.ok(index === undefined ? rows === 0 : rows <= MOST_ROWS, scan);
  }

  for (const text of [`0x${'cd'.repeat(32)}`, `0x${'cd'.repeat(20)}`, 'nobody@mail.example'])
    it(`a search for ${text}`, () =>
      assertIndexed(() => assert.rejects(searchByText({ db, baseUrl: 'https://pay.example' }, text))));

  it("a search for another payment's transaction", async () => {
    const { id } = await db('payments').first('id');
    await assertIndexed(() => refuseIfPaidAnother(db, id, `0x${'cd'.repeat(32)}`));
  });

  it('the first day with totals', () => assertIndexed(() => readFirstDay(db)));
  it('the totals of a day', () => assertIndexed(() => readDayOfAccounts(db, Date.parse('2026-01-01'))));
});
