import { networkName } from '../chains/networks/networks.js';
import { dollarText } from '../values/money.js';
import type { Columns } from '../wire/csv.js';
import { dateText } from '../wire/timestamp.js';
import type { AccountSum } from './read.js';

/** The operator's sums of one day (UTC), account, mode, token and network, as in the daily reports. Amounts are cents. */
export interface Totals {
  date: string;
  account: string;
  livemode: boolean;
  token: string;
  network: string;
  network_name: string;
  payments: number;
  amount: number;
  /** Payments for sessions that another payment had paid; `payments` and `amount` are without them. */
  surplus: number;
  refunds: number;
  refunded: number;
}

export function presentTotals(dayMs: number, sums: readonly AccountSum[]): Totals[] {
  const date = dateText(dayMs);
  return sums.filter(isShown).map((sum) => ({
    date,
    account: sum.account,
    livemode: sum.livemode,
    token: sum.token,
    network: sum.network,
    network_name: networkName(sum.network),
    payments: sum.payments,
    amount: sum.amount,
    surplus: sum.surplus,
    refunds: sum.refunds,
    refunded: sum.refunded,
  }));
}

/** A payment whose day was corrected leaves sums of zero. */
function isShown({ payments, refunds, surplus }: AccountSum): boolean {
  return payments !== 0 || refunds !== 0 || surplus !== 0;
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
  ['amount', ({ amount }) => dollarText(amount)],
  ['surplus', ({ surplus }) => dollarText(surplus)],
  ['refunds', ({ refunds }) => refunds],
  ['refunded', ({ refunded }) => dollarText(refunded)],
];
