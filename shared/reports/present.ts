import { networkName } from '../chains/networks/networks.js';
import { dollarText } from '../values/money.js';
import type { Columns } from '../wire/csv.js';
import { dateText } from '../wire/timestamp.js';
import type { DailyReport, DaySum } from './read.js';

export function presentDailyReport(report: DailyReport): object {
  const { payments, amount, refunds, refunded, surplus } = totalsOf(report);
  return {
    object: 'daily_report',
    date: dateText(report.dayMs),
    currency: 'usd',
    payments,
    amount,
    refunds,
    refunded,
    surplus,
    by: report.sums.filter(isShown).map((sum) => ({
      token: sum.token,
      network: sum.network,
      network_name: networkName(sum.network),
      payments: sum.payments,
      amount: sum.amount,
      token_amount: sum.tokenAmount,
      refunds: sum.refunds,
      refunded: sum.refunded,
    })),
  };
}

/** Payments that turned out to be surplus, or were archived, leave sums of zero. */
function isShown({ payments, refunds }: DaySum): boolean {
  return payments !== 0 || refunds !== 0;
}

type Total = 'payments' | 'amount' | 'refunds' | 'refunded' | 'surplus';

function totalsOf({ sums }: DailyReport): Record<Total, number> {
  const total = (name: Total): number => sums.reduce((sum, one) => sum + one[name], 0);
  return {
    payments: total('payments'),
    amount: total('amount'),
    refunds: total('refunds'),
    refunded: total('refunded'),
    surplus: total('surplus'),
  };
}

/** Columns of the table, which has one line for each day. */
export const DAILY_REPORT_COLUMNS: Columns<DailyReport> = [
  ['date', ({ dayMs }) => dateText(dayMs)],
  ['currency', () => 'usd'],
  ['payments', (report) => totalsOf(report).payments],
  ['amount', (report) => dollarText(totalsOf(report).amount)],
  ['refunds', (report) => totalsOf(report).refunds],
  ['refunded', (report) => dollarText(totalsOf(report).refunded)],
  ['surplus', (report) => dollarText(totalsOf(report).surplus)],
];
