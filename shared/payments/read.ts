import { type AccountList, accountList } from '../accounts/account-list.js';
import type { Principal } from '../accounts/api-keys.js';
import type { TokenSymbol } from '../chains/networks/networks.js';
import type { Knex } from '../db/knex.js';
import { type Filter, type IdRange, idRange, type Page, type PageRequest } from '../db/listing.js';
import { type Sized, sizedColumns } from '../db/sized-columns.js';
import { Payment } from './model.js';
import { SHOWN_PAYMENT_FIELDS } from './present.js';
import type { PaymentStatus } from './states.js';

/** Values that the facilitator sends, of any length. */
const LONG = ['payer', 'transaction'] as const satisfies (keyof Payment)[];
const columns = sizedColumns(Payment, 'payment', [...SHOWN_PAYMENT_FIELDS, 'failureCode', 'payableId'], LONG);

const PAYMENT = {
  name: 'payment',
  what: 'payment',
  table: 'payments',
  alias: 'payment',
  select: (share: number | string) => `SELECT ${columns.sql(share)} FROM payments payment ${columns.join}`,
  read: columns.read,
};

/** Reads a payment in any status, of a session or of a refund. */
export const { one: getPayment } = accountList<Payment>(PAYMENT);

/** The merchant pays refunds, so their payments are not listed with the buyers'. */
const OF_SESSIONS = "payment.payable_id LIKE 'cs\\_%'";

/** The statuses are parts of the statements: Postgres takes the index of such payments. */
const PAYMENTS = {
  succeeded: accountList<Payment>({
    ...PAYMENT,
    name: 'payments',
    member: `payment.status = 'succeeded' AND ${OF_SESSIONS}`,
  }),
  processing: unsettled('processing'),
  failed: unsettled('failed'),
};

/** A payment changes its status and leaves the list while a client pages: its id still works as a cursor. */
function unsettled(status: 'processing' | 'failed'): AccountList<Payment> {
  const name = `payments ${status}`;
  return accountList({ ...PAYMENT, name, member: OF_SESSIONS, listed: `payment.status = '${status}'` });
}

export const { byIds: readPayments } = accountList<Payment>({
  ...PAYMENT,
  name: 'payments of any status',
  member: OF_SESSIONS,
});

export interface PaymentFilter extends IdRange {
  status: PaymentStatus;
  transaction: string | undefined;
  payer: string | undefined;
  token: TokenSymbol | undefined;
  network: string | undefined;
  checkoutSession: string | undefined;
}

export async function listPayments(
  db: Knex,
  principal: Principal,
  page: PageRequest,
  { status, transaction, payer, token, network, checkoutSession, ...created }: PaymentFilter,
): Promise<Page<Sized<Payment>>> {
  return await PAYMENTS[status].page(db, principal, page, [
    ...onChain('transaction', transaction),
    ...onChain('payer', payer),
    { column: 'token', operator: '=', value: token },
    { column: 'network', operator: '=', value: network },
    { column: 'payable_id', operator: '=', value: checkoutSession },
    ...idRange(created),
  ]);
}

const HEX = /^0x[0-9a-f]+$/i;

/** Hex digits mean the same in both cases, base58 does not. Both are found by the index that ignores case. */
function onChain(column: 'transaction' | 'payer', value: string | undefined): Filter[] {
  const alike: Filter = { column, operator: '~', value };
  return value === undefined || HEX.test(value) ? [alike] : [alike, { column, operator: '=', value }];
}
