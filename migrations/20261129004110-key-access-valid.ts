import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE api_keys VALIDATE CONSTRAINT api_keys_access');
}

/** The previous migration drops the check. */
export async function down(): Promise<void> {}
