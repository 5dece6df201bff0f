import type { Knex } from 'knex';

/** Processes that share what the facilitator allows, each of which says every few seconds that it is there. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE UNLOGGED TABLE facilitator_callers (
      id uuid PRIMARY KEY,
      kind text NOT NULL,
      seen_at timestamptz NOT NULL
    )`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE facilitator_callers');
}
