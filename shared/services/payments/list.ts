import type { Knex } from '../../db/knex.js';
import { type Listing, type Page, type PageRequest, readByIds, readPage } from '../../db/page.js';
import { type Weighed, weighedColumns } from '../../db/weighed-columns.js';
import { Payment } from '../../models/payment.js';
import { SHOWN_PAYMENT_FIELDS } from '../../presenters/payment.js';
import { keyCounts, type Principal, requireKeyThatCounts } from '../access/api-keys.js';

/** The facilitator's words. */
const LONG = ['payer', 'transaction'] as const satisfies (keyof Payment)[];
const columns = weighedColumns(Payment, 'payment', [...SHOWN_PAYMENT_FIELDS, 'checkoutSessionId'], LONG);

/** Of sessions: what has paid a refund is not a buyer's. */
const PAYMENTS: Omit<Listing<Payment>, 'values'> = {
  name: 'payments',
  what: 'payment',
  table: 'payments',
  alias: 'payment',
  select: (share) => `SELECT ${columns.sql(share)} FROM payments payment ${columns.join}`,
  owned: `payment.account_id = $1 AND payment.livemode = $2 AND payment.status = 'succeeded'
    AND payment.checkout_session_id LIKE 'cs\\_%'`,
  allowed: keyCounts('$3'),
  filters: [],
  read: columns.read,
};

export async function listPayments(
  db: Knex,
  principal: Principal,
  page: PageRequest,
): Promise<Page<Weighed<Payment>>> {
  return await readPage(db, ownPayments(principal), page, () => requireKeyThatCounts(db, principal));
}

export async function readPayments(
  db: Knex,
  principal: Principal,
  ids: readonly string[],
): Promise<Payment[]> {
  return await readByIds(db, ownPayments(principal), ids, () => requireKeyThatCounts(db, principal));
}

function ownPayments({ accountId, livemode, keyId }: Principal): Listing<Payment> {
  return { ...PAYMENTS, values: [accountId, livemode, keyId] };
}
