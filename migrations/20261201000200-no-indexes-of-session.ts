import type { Knex } from 'knex';
import { createIndexConcurrently, dropIndexConcurrently } from './concurrent-index.js';

/** Code since 0.2.0 uses the indexes on payable_id. Those on payments and events took four writes of each payment. */
export const config = { transaction: false };

const INDEXES = [
  { name: 'payments_of_session', on: 'payments (checkout_session_id)' },
  {
    name: 'payments_identifier',
    unique: true,
    on: 'payments (checkout_session_id, identifier) WHERE identifier IS NOT NULL AND NOT payload_released',
  },
  { name: 'events_of_session', on: 'events (checkout_session_id)' },
  {
    name: 'payment_marks_identifier',
    unique: true,
    on: 'payment_marks (checkout_session_id, identifier) WHERE identifier IS NOT NULL AND NOT payload_released',
  },
];

export async function up(knex: Knex): Promise<void> {
  for (const { name } of INDEXES) await dropIndexConcurrently(knex, name);
}

export async function down(knex: Knex): Promise<void> {
  for (const index of INDEXES) await createIndexConcurrently(knex, index);
}
