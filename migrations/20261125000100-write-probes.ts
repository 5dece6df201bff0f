import type { Knex } from 'knex';

/** Empty for ever: a row is written into it and taken back by whoever asks whether Postgres takes writes. One fills a page. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('CREATE TABLE write_probes (filler text NOT NULL)');
  await knex.raw('ALTER TABLE write_probes ALTER filler SET STORAGE PLAIN');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE write_probes');
}
