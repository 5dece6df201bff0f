import { getAccount, listAccounts } from '../shared/accounts/accounts.js';
import { rebuildTotals } from '../shared/reports/rebuild.js';
import type { Command } from './command.js';
import { readDayRange } from './read-times.js';

const FIRST_DAY = new Date(0);
/** A time later than every payment. */
const NO_END = new Date('9999-12-31T00:00:00Z');

export const REPORT_COMMANDS: Readonly<Record<string, Command>> = {
  'rebuild-reports': {
    usage: '[--account acct_…] [--from 2026-11-01] [--to 2026-11-30]',
    options: ['account', 'from', 'to'],
    // Each account has a transaction of its own.
    changes: 'piecemeal',
    async run(db, input, audit) {
      const { from = FIRST_DAY, before = NO_END } = readDayRange(input.from, input.to);
      const accounts =
        input.account === undefined ? await listAccounts(db) : [await getAccount(db, input.account)];
      audit.about = input.account;
      await audit.record(db);
      let payments = 0;
      for (const { id } of accounts) payments += await rebuildTotals(db, id, { from, before });
      return { accounts: accounts.length, payments_read: payments };
    },
  },
};
