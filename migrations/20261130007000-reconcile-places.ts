import type { Knex } from 'knex';

/**
 * `unchecked`: the payments of a list of payments that the next run asks the chain for again. `read_until`: all before this time
 * has been read; null when that is not known. Both have constant defaults, so no row is rewritten.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE reconcile_positions
      ADD COLUMN unchecked json NOT NULL DEFAULT '[]',
      ADD COLUMN read_until timestamptz`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE reconcile_positions DROP COLUMN read_until, DROP COLUMN unchecked');
}
