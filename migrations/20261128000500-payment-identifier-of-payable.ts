import type { Knex } from 'knex';
import { createIndexConcurrently, dropIndexConcurrently } from './concurrent-index.js';

/** Replaces payments_identifier, which code of the previous release still uses. */
export const config = { transaction: false };

export async function up(knex: Knex): Promise<void> {
  await createIndexConcurrently(knex, {
    name: 'payments_payable_identifier',
    unique: true,
    on: 'payments (payable_id, identifier) WHERE identifier IS NOT NULL AND NOT payload_released',
  });
}

export async function down(knex: Knex): Promise<void> {
  await dropIndexConcurrently(knex, 'payments_payable_identifier');
}
