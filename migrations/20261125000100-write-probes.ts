import type { Knex } from 'knex';

/**
 * The table is always empty: a probe inserts a row that fills a page and rolls it back, to find out whether Postgres accepts
 * writes.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('CREATE TABLE write_probes (filler text NOT NULL)');
  await knex.raw('ALTER TABLE write_probes ALTER filler SET STORAGE PLAIN');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE write_probes');
}
