import type { Knex } from 'knex';

/**
 * Read-only keys. Code of the previous release treats every key that it finds as one with full access, so a read-only key is
 * stored under another hash of its secret, which that code does not look up.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE api_keys
      ADD COLUMN access text NOT NULL DEFAULT 'full',
      ADD CONSTRAINT api_keys_access CHECK (access IN ('full', 'read')) NOT VALID`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE api_keys DROP CONSTRAINT api_keys_access, DROP COLUMN access');
}
