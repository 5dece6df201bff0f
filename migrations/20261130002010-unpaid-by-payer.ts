import type { Knex } from 'knex';
import { createIndexConcurrently, dropIndexConcurrently } from './concurrent-index.js';

/** The index serves the operator's search. Merchants' lists show no such payments, so it has no account in it. */
export const config = { transaction: false };

export async function up(knex: Knex): Promise<void> {
  await createIndexConcurrently(knex, {
    name: 'unpaid_by_payer',
    on: "payments (lower(left(payer, 128)), id) WHERE status <> 'succeeded' AND payer IS NOT NULL",
  });
}

export async function down(knex: Knex): Promise<void> {
  await dropIndexConcurrently(knex, 'unpaid_by_payer');
}
