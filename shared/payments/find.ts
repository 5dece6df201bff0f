import type { Knex } from '../db/knex.js';
import { requireFound } from '../errors/refusal.js';
import { Payment } from './model.js';

/** Reads of any account's payments, for workers, links and operators; `read.ts` has the reads of a merchant's key. */

export async function findPayment(db: Knex, id: string): Promise<Payment | undefined> {
  return await Payment.query(db).findById(id);
}

export async function getAnyPayment(db: Knex, id: string): Promise<Payment> {
  return requireFound(await findPayment(db, id), 'payment', id);
}

export async function listUndecidedPayments(db: Knex): Promise<Payment[]> {
  return await Payment.query(db).where('status', 'processing').orderBy('id');
}
