import type { Knex } from 'knex';

/**
 * Whether the pending deliveries of an endpoint are held is read from its status, so that switching it off or on writes one
 * row. enabled_at: when it was last switched on. swept_to: workers make its held deliveries due, or drop them when it is
 * deleted, in batches in the order of their ids, and have come this far; null when there is nothing to do.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(
    'ALTER TABLE webhook_endpoints ADD COLUMN enabled_at timestamptz, ADD COLUMN swept_to text COLLATE "C"',
  );
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE webhook_endpoints DROP COLUMN enabled_at, DROP COLUMN swept_to');
}
