import type { Knex } from '../../db/knex.js';
import { modelColumns, type Row } from '../../db/model-columns.js';
import {
  givenFilters,
  type IdRange,
  idRange,
  type Listing,
  type Page,
  type PageRequest,
  readById,
  readByIds,
  readPage,
} from '../../db/page.js';
import { type Weighed, weighedColumns } from '../../db/weighed-columns.js';
import type { SessionStatus } from '../../domain/checkout-session.js';
import { noSuch } from '../../domain/errors.js';
import { Payment } from '../../models/payment.js';
import { Refund } from '../../models/refund.js';
import { SHOWN_PAYMENT_FIELDS } from '../../presenters/payment.js';
import { SHOWN_REFUND_FIELDS } from '../../presenters/refund.js';
import { keyCounts, type Principal, requireKeyThatCounts } from '../access/api-keys.js';

const refund = weighedColumns(Refund, 'refund', SHOWN_REFUND_FIELDS, ['metadata']);
const payment = modelColumns(Payment, 'payment', SHOWN_PAYMENT_FIELDS);

const REFUNDS: Omit<Listing<Refund>, 'values' | 'filters'> = {
  name: 'refunds',
  what: 'refund',
  table: 'refunds',
  alias: 'refund',
  // Looked up row by row (OFFSET 0 keeps it so): else a plan made while a table is small reads all of it ever after.
  select: (share) => `SELECT ${refund.sql(share)}, ${payment.sql} FROM refunds refund ${refund.join}
    LEFT JOIN LATERAL (SELECT * FROM payments WHERE id = refund.payment_id OFFSET 0) payment ON true`,
  owned: 'refund.account_id = $1 AND refund.livemode = $2',
  allowed: keyCounts('$3'),
  read: (row: Row) =>
    Object.assign(refund.read(row), { payment: row['payment.id'] === null ? null : payment.read(row) }),
};

export interface RefundFilter extends IdRange {
  status: SessionStatus | undefined;
  paymentId: string | undefined;
}

export async function listRefunds(
  db: Knex,
  principal: Principal,
  page: PageRequest,
  { status, paymentId, ...created }: RefundFilter,
): Promise<Page<Weighed<Refund>>> {
  const filters = givenFilters([
    { column: 'status', operator: '=', value: status },
    { column: 'refunded_payment_id', operator: '=', value: paymentId },
    ...idRange(created),
  ]);
  return await readPage(db, { ...ownRefunds(principal), filters }, page, () =>
    requireKeyThatCounts(db, principal),
  );
}

export async function readRefunds(db: Knex, principal: Principal, ids: readonly string[]): Promise<Refund[]> {
  return await readByIds(db, ownRefunds(principal), ids, () => requireKeyThatCounts(db, principal));
}

export async function getRefund(db: Knex, principal: Principal, id: string): Promise<Refund> {
  return await readById(db, ownRefunds(principal), id, async () => {
    await requireKeyThatCounts(db, principal);
    return noSuch('refund', id);
  });
}

function ownRefunds({ accountId, livemode, keyId }: Principal): Omit<Listing<Refund>, 'filters'> {
  return { ...REFUNDS, values: [accountId, livemode, keyId] };
}

/** Of one payment, oldest first. */
export async function refundsOf(db: Knex, paymentId: string): Promise<Refund[]> {
  const refunds = await Refund.query(db).where({ refundedPaymentId: paymentId }).orderBy('id');
  const ids = refunds.flatMap(({ paymentId: id }) => id ?? []);
  const payments = ids.length === 0 ? [] : await Payment.query(db).findByIds(ids);
  const byId = new Map(payments.map((one) => [one.id, one]));
  return refunds.map((one) => Object.assign(one, { payment: byId.get(one.paymentId ?? '') ?? null }));
}
