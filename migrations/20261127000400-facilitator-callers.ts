import type { Knex } from 'knex';

/** Processes that share the facilitator's limits. Each renews its row every few seconds. */
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
