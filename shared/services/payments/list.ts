import type { Knex } from '../../db/knex.js';
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
import { noSuch } from '../../domain/errors.js';
import { Payment } from '../../models/payment.js';
import { SHOWN_PAYMENT_FIELDS } from '../../presenters/payment.js';
import { keyCounts, type Principal, requireKeyThatCounts } from '../access/api-keys.js';

/** The facilitator's words. */
const LONG = ['payer', 'transaction'] as const satisfies (keyof Payment)[];
const columns = weighedColumns(Payment, 'payment', [...SHOWN_PAYMENT_FIELDS, 'checkoutSessionId'], LONG);

/** In any status, of a session or of a refund. */
const PAYMENT: Omit<Listing<Payment>, 'values'> = {
  name: 'payment',
  what: 'payment',
  table: 'payments',
  alias: 'payment',
  select: (share) => `SELECT ${columns.sql(share)} FROM payments payment ${columns.join}`,
  owned: 'payment.account_id = $1 AND payment.livemode = $2',
  allowed: keyCounts('$3'),
  filters: [],
  read: columns.read,
};

/** Of sessions: what has paid a refund is not a buyer's. */
const PAYMENTS: typeof PAYMENT = {
  ...PAYMENT,
  name: 'payments',
  owned: `${PAYMENT.owned} AND payment.status = 'succeeded' AND payment.checkout_session_id LIKE 'cs\\_%'`,
};

export async function getPayment(db: Knex, principal: Principal, id: string): Promise<Payment> {
  return await readById(db, { ...PAYMENT, values: ownerValues(principal) }, id, async () => {
    await requireKeyThatCounts(db, principal);
    return noSuch('payment', id);
  });
}

export async function listPayments(
  db: Knex,
  principal: Principal,
  page: PageRequest,
  created: IdRange,
): Promise<Page<Weighed<Payment>>> {
  const listing = { ...ownPayments(principal), filters: givenFilters(idRange(created)) };
  return await readPage(db, listing, page, () => requireKeyThatCounts(db, principal));
}

export async function readPayments(
  db: Knex,
  principal: Principal,
  ids: readonly string[],
): Promise<Payment[]> {
  return await readByIds(db, ownPayments(principal), ids, () => requireKeyThatCounts(db, principal));
}

function ownPayments(principal: Principal): Listing<Payment> {
  return { ...PAYMENTS, values: ownerValues(principal) };
}

function ownerValues({ accountId, livemode, keyId }: Principal): unknown[] {
  return [accountId, livemode, keyId];
}
