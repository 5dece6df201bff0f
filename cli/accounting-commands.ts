import { getAccount } from '../shared/accounts/accounts.js';
import { EXPORTS, type Export } from '../shared/operator-reads/export.js';
import { nowMs } from '../shared/process/clock.js';
import { presentTotals, TOTALS_COLUMNS, type Totals } from '../shared/reports/present-totals.js';
import { readDayOfAccounts, readFirstDay } from '../shared/reports/read.js';
import { DAY_MS } from '../shared/values/day.js';
import { csvLine, headLine } from '../shared/wire/csv.js';
import { type Command, type CommandContext, subjectOf } from './command.js';
import { linkBaseUrl } from './link-base-url.js';
import { UsageError } from './parse-command-line.js';
import { readDayRange, readTimeRange } from './read-times.js';

/** Commands for accountants. `totals` are the sums of the daily reports; `export` lacks the archived months. */
export const ACCOUNTING_COMMANDS: Readonly<Record<string, Command>> = {
  totals: {
    usage: '--from DATE --to DATE [--account acct_…] [--csv]',
    options: ['from', 'to', 'account'],
    flags: ['csv'],
    required: ['from', 'to'],
    writesDataToStdout: ({ csv }) => csv !== undefined,
    async run(db, input, _audit, context) {
      const asCsv = input.csv !== undefined;
      if (asCsv && context.isJson) throw new UsageError('Give either --csv or --json.');
      const { from, before } = readDayRange(input.from, input.to);
      if (input.account !== undefined) await getAccount(db, input.account);
      const days = daysBetween(Math.max(Number(from), await readFirstDay(db, input.account)), Number(before));
      if (asCsv) context.write(headLine(TOTALS_COLUMNS));
      const totals: Totals[] = [];
      let count = 0;
      for (const day of days) {
        const ofDay = presentTotals(day, await readDayOfAccounts(db, day, input.account));
        count += ofDay.length;
        if (asCsv) for (const row of ofDay) context.write(csvLine(TOTALS_COLUMNS, row));
        else totals.push(...ofDay);
      }
      return asCsv ? { rows: count } : { totals };
    },
  },
  export: {
    usage: 'payments|refunds --account acct_… [--from DATE] [--to DATE]',
    subject: 'what',
    options: ['account', 'from', 'to'],
    required: ['account'],
    // The list; the number of its rows goes to standard error.
    writesDataToStdout: () => true,
    async run(db, input, _audit, context) {
      const what = subjectOf(input, 'what');
      if (what !== 'payments' && what !== 'refunds')
        throw new UsageError(`Only payments or refunds can be exported; not "${what}".`);
      const { id: accountId } = await getAccount(db, subjectOf(input, 'account'));
      const range = readTimeRange(input.from, input.to);
      const baseUrl = linkBaseUrl(context);
      const rows = await write(EXPORTS[what](db, { accountId, baseUrl, ...range }), what, context);
      return { rows };
    },
  },
};

/** A pipe takes each line before the next one is read. */
async function write(
  { head, rows }: Export,
  name: string,
  { isJson, write: out }: CommandContext,
): Promise<number> {
  let count = 0;
  out(isJson ? `{"${name}":[` : head);
  for await (const { csv, json } of rows) {
    out(isJson ? `${count === 0 ? '' : ','}${json}` : csv);
    count += 1;
  }
  if (isJson) out(']}\n');
  return count;
}

/** Each midnight in UTC from `fromMs` to before `beforeMs`. Days to come have no payments. */
function daysBetween(fromMs: number, beforeMs: number): number[] {
  const end = Math.min(beforeMs, nowMs());
  const days: number[] = [];
  for (let day = fromMs; day < end; day += DAY_MS) days.push(day);
  return days;
}
