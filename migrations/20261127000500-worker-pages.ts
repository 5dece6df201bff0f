import type { Knex } from 'knex';

/** What workers without a port of their own count, for web's metrics page. A row for each that runs, written again and again. */
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
