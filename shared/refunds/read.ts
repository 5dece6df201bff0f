import { accountList } from '../accounts/account-list.js';
import type { Principal } from '../accounts/api-keys.js';
import type { Knex } from '../db/knex.js';
import { type IdRange, idRange, type Page, type PageRequest } from '../db/listing.js';
import { modelColumns, type Row } from '../db/model-columns.js';
import { type Sized, sizedColumns } from '../db/sized-columns.js';
import type { PayableStatus } from '../payables/states.js';
import { Payment } from '../payments/model.js';
import { SHOWN_PAYMENT_FIELDS } from '../payments/present.js';
import { Refund } from './model.js';
import { SHOWN_REFUND_FIELDS } from './present.js';

const refund = sizedColumns(Refund, 'refund', SHOWN_REFUND_FIELDS, ['metadata']);
const payment = modelColumns(Payment, 'payment', SHOWN_PAYMENT_FIELDS);

const REFUNDS = accountList<Refund>({
  name: 'refunds',
  what: 'refund',
  table: 'refunds',
  alias: 'refund',
  // OFFSET 0 makes Postgres look up each payment by its id. Otherwise a plan made while the table is small scans the table
  // for as long as the connection lives.
  select: (share) => `SELECT ${refund.sql(share)}, ${payment.sql} FROM refunds refund ${refund.join}
    LEFT JOIN LATERAL (SELECT * FROM payments WHERE id = refund.payment_id OFFSET 0) payment ON true`,
  read: (row: Row) =>
    Object.assign(refund.read(row), { payment: row['payment.id'] === null ? null : payment.read(row) }),
});

export const { byIds: readRefunds, one: getRefund } = REFUNDS;

export interface RefundFilter extends IdRange {
  status: PayableStatus | undefined;
  paymentId: string | undefined;
}

export async function listRefunds(
  db: Knex,
  principal: Principal,
  page: PageRequest,
  { status, paymentId, ...created }: RefundFilter,
): Promise<Page<Sized<Refund>>> {
  return await REFUNDS.page(db, principal, page, [
    { column: 'status', operator: '=', value: status },
    { column: 'refunded_payment_id', operator: '=', value: paymentId },
    ...idRange(created),
  ]);
}

/** The refunds of a payment, oldest first. */
export async function refundsOf(db: Knex, paymentId: string): Promise<Refund[]> {
  const refunds = await Refund.query(db).where({ refundedPaymentId: paymentId }).orderBy('id');
  const paying = Refund.query(db).where({ refundedPaymentId: paymentId }).select('paymentId');
  const payments = await Payment.query(db).whereIn('id', paying);
  const byId = new Map(payments.map((one) => [one.id, one]));
  return refunds.map((one) => Object.assign(one, { payment: byId.get(one.paymentId ?? '') ?? null }));
}
