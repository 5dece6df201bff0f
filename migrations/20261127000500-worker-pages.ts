import type { Knex } from 'knex';

/** Metrics pages of workers without a metrics port, for the web processes to serve. Each worker rewrites its row. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE worker_pages (
      worker text PRIMARY KEY,
      page text NOT NULL,
      written_at timestamptz NOT NULL
    ) WITH (fillfactor = 50)`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE worker_pages');
}
