import type { Knex } from 'knex';
import { createIndexConcurrently, dropIndexConcurrently } from './concurrent-index.js';

/**
 * Payments of 0.2.0 whose transaction was only named have no `proof_index`, and are in no index by their transaction. Payments
 * of later code are not in these indexes.
 */
export const config = { transaction: false };

const INDEXES = [
  {
    name: 'payments_unproved',
    on: "payments (network, transaction) WHERE proof_index IS NULL AND status = 'succeeded'",
  },
  {
    name: 'payment_marks_unproved',
    on: 'payment_marks (network, transaction) WHERE proof_index IS NULL AND transaction IS NOT NULL',
  },
];

export async function up(knex: Knex): Promise<void> {
  for (const index of INDEXES) await createIndexConcurrently(knex, index);
}

export async function down(knex: Knex): Promise<void> {
  for (const { name } of INDEXES) await dropIndexConcurrently(knex, name);
}
