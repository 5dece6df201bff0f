import type { Knex } from '../../db/knex.js';
import { modelColumns } from '../../db/model-columns.js';
import { type Listing, type Page, type PageRequest, readPage } from '../../db/page.js';
import { Payment } from '../../models/payment.js';
import { SHOWN_PAYMENT_FIELDS } from '../../presenters/payment.js';
import { keyCounts, type Principal, requireKeyThatCounts } from '../access/api-keys.js';

const columns = modelColumns(Payment, 'payment', [...SHOWN_PAYMENT_FIELDS, 'checkoutSessionId']);

const PAYMENTS: Omit<Listing<Payment>, 'values'> = {
  name: 'payments',
  what: 'payment',
  table: 'payments',
  alias: 'payment',
  select: `SELECT ${columns.sql} FROM payments payment`,
  owned: `payment.account_id = $1 AND payment.livemode = $2 AND payment.status = 'succeeded'`,
  always: keyCounts('$3'),
  filters: [],
  read: columns.read,
};

export async function listPayments(
  db: Knex,
  principal: Principal,
  page: PageRequest,
): Promise<Page<Payment>> {
  const { accountId, livemode, keyId } = principal;
  const listing = { ...PAYMENTS, values: [accountId, livemode, keyId] };
  return await readPage(db, listing, page, () => requireKeyThatCounts(db, principal));
}
