import { networkName } from '../chains/networks.js';
import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { decimalText } from '../values/money.js';
import type { Columns } from '../wire/csv.js';
import { TOTALS_OF_DAY } from './statements/totals.sql.js';

/** Sums of one account's payments and refunds in a day (UTC), in one mode, token and network. Amounts are cents. */
export interface Totals {
  date: string;
  account: string;
  livemode: boolean;
  token: string;
  network: string;
  network_name: string;
  payments: number;
  /** All that arrived, `surplus` included. */
  amount: number;
  /** Payments for sessions that another payment had paid. */
  surplus: number;
  refunds: number;
  refunded: number;
}

type Row = Omit<Totals, 'date' | 'network_name' | 'amount' | 'surplus' | 'refunded'> &
  Record<'amount' | 'surplus' | 'refunded', string>;

/** Reads the day's payments by the index of their settlement times. */
export async function readTotals(db: Knex, day: Date, next: Date, account?: string): Promise<Totals[]> {
  const rows = await runStatement<Row>(db, TOTALS_OF_DAY, [day, next, account ?? null]);
  return rows.map((row) => ({
    date: day.toISOString().slice(0, 10),
    account: row.account,
    livemode: row.livemode,
    token: row.token,
    network: row.network,
    network_name: networkName(row.network),
    payments: row.payments,
    amount: Number(row.amount),
    surplus: Number(row.surplus),
    refunds: row.refunds,
    refunded: Number(row.refunded),
  }));
}

export const TOTALS_COLUMNS: Columns<Totals> = [
  ['date', ({ date }) => date],
  ['account', ({ account }) => account],
  ['livemode', ({ livemode }) => livemode],
  ['currency', () => 'usd'],
  ['token', ({ token }) => token],
  ['network', ({ network }) => network],
  ['network_name', (totals) => totals.network_name],
  ['payments', ({ payments }) => payments],
  ['amount', ({ amount }) => decimalText(String(amount), 2)],
  ['surplus', ({ surplus }) => decimalText(String(surplus), 2)],
  ['refunds', ({ refunds }) => refunds],
  ['refunded', ({ refunded }) => decimalText(String(refunded), 2)],
];
