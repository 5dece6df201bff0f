import type { Knex } from '../db/knex.js';
import { type Page, type PageRequest, readPage } from '../db/page.js';
import { Payment } from '../models/payment.js';
import { type Principal, requireKeyThatCounts, whereKeyCounts } from './api-keys.js';

export async function listPayments(
  db: Knex,
  principal: Principal,
  page: PageRequest,
): Promise<Page<Payment>> {
  const all = Payment.query(db).where({
    accountId: principal.accountId,
    livemode: principal.livemode,
    status: 'succeeded',
  });
  const query = whereKeyCounts(all.clone(), principal);
  return await readPage({
    query,
    all,
    what: 'payment',
    page,
    whenEmpty: () => requireKeyThatCounts(db, principal),
  });
}
