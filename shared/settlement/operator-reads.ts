import type { Knex } from '../db/knex.js';
import { requireFound } from '../errors/refusal.js';
import { Payment } from '../payments/model.js';
import { findPayment } from './read-link.js';

/** The payment, or a refusal that names the id. */
export async function getPayment(db: Knex, id: string): Promise<Payment> {
  return requireFound(await findPayment(db, id), 'payment', id);
}

export async function listUndecidedPayments(db: Knex): Promise<Payment[]> {
  return await Payment.query(db).where('status', 'processing').orderBy('id');
}
