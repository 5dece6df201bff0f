import { type Principal, requireActiveKey } from '../accounts/api-keys.js';
import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { DAY_MS } from '../values/day.js';
import { startOfDay, type TimeZone } from './local-days.js';
import { spanFor } from './spans.js';
import { READ_DAY_OF_ACCOUNTS, READ_DAYS, READ_FIRST_TIME } from './statements/read.sql.js';
import type { SUMS } from './statements/totals.sql.js';

/** Days by their midnights in UTC, both included. */
export interface ReportRange {
  fromMs: number;
  toMs: number;
  zone: TimeZone;
}

export interface DailyReport {
  dayMs: number;
  sums: DaySum[];
}

/** The sums of one token on one network. Cents, except for `tokenAmount`, which may exceed 2^53. */
export interface DaySum {
  token: string;
  network: string;
  payments: number;
  amount: number;
  tokenAmount: string;
  refunds: number;
  refunded: number;
  surplus: number;
}

/** The sums of one account in one mode, for the operator. */
export interface AccountSum extends DaySum {
  account: string;
  livemode: boolean;
}

type SumRow = Record<'token' | 'network' | (typeof SUMS)[number], string>;

/** Reads one report for each day, the first day first. */
export async function readDailyReports(
  db: Knex,
  principal: Principal,
  { fromMs, toMs, zone }: ReportRange,
): Promise<DailyReport[]> {
  const reports: DailyReport[] = [];
  for (let dayMs = fromMs; dayMs <= toMs; dayMs += DAY_MS) reports.push({ dayMs, sums: [] });
  const bounds = reports.map(({ dayMs }) => startOfDay(zone, dayMs));
  bounds.push(startOfDay(zone, toMs + DAY_MS));
  const times = bounds.map((ms) => new Date(ms));
  const { accountId, livemode, keyId } = principal;
  const rows = await runStatement<SumRow & { day: number }>(db, READ_DAYS, [
    accountId,
    livemode,
    keyId,
    spanFor(bounds),
    times.slice(0, -1),
    times.slice(1),
  ]);
  if (rows.length === 0) await requireActiveKey(db, principal);
  for (const row of rows) reports[row.day - 1]?.sums.push(sumOf(row));
  return reports;
}

/** The sums of a day in UTC, of one account or of all. */
export async function readDayOfAccounts(db: Knex, dayMs: number, account?: string): Promise<AccountSum[]> {
  const rows = await runStatement<SumRow & Pick<AccountSum, 'account' | 'livemode'>>(
    db,
    READ_DAY_OF_ACCOUNTS,
    [new Date(dayMs), new Date(dayMs + DAY_MS), account ?? null],
  );
  return rows.map((row) => ({ account: row.account, livemode: row.livemode, ...sumOf(row) }));
}

/** The midnight in UTC before the first payment that is counted, of one account or of all. Later than every day when there is none. */
export async function readFirstDay(db: Knex, account?: string): Promise<number> {
  const [first] = await runStatement<{ at: Date | null }>(db, READ_FIRST_TIME, [account ?? null]);
  return first?.at ? Math.floor(first.at.getTime() / DAY_MS) * DAY_MS : Number.POSITIVE_INFINITY;
}

function sumOf(row: SumRow): DaySum {
  return {
    token: row.token,
    network: row.network,
    payments: Number(row.payments),
    amount: Number(row.amount),
    tokenAmount: row.token_amount,
    refunds: Number(row.refunds),
    refunded: Number(row.refunded),
    surplus: Number(row.surplus),
  };
}
