import type { Knex } from 'knex';
import { createIndexConcurrently, dropIndexConcurrently } from './concurrent-index.js';

/** Replaces payment_marks_identifier, which code of the previous release still uses. */
export const config = { transaction: false };

export async function up(knex: Knex): Promise<void> {
  await createIndexConcurrently(knex, {
    name: 'payment_marks_payable_identifier',
    unique: true,
    on: 'payment_marks (payable_id, identifier) WHERE identifier IS NOT NULL AND NOT payload_released',
  });
}

export async function down(knex: Knex): Promise<void> {
  await dropIndexConcurrently(knex, 'payment_marks_payable_identifier');
}
