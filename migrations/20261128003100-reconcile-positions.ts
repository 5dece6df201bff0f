import type { Knex } from 'knex';

/**
 * Where the reading of the chains stopped, for each reader (an operator's reports, repairs, the workers), part of the books
 * (all accounts or one), network and list on it; `told`: the reported arrivals of the newest blocks, which are read again in
 * case they were reorganised. `reconcile_turns` has one row: the worker that moves `due_at` has the turn.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE reconcile_positions (
      reader text NOT NULL,
      part text COLLATE "C" NOT NULL,
      network text NOT NULL,
      list text COLLATE "C" NOT NULL,
      position bigint NOT NULL,
      told json NOT NULL,
      PRIMARY KEY (reader, part, network, list)
    )`);
  await knex.raw(`
    CREATE TABLE reconcile_turns (
      only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
      due_at timestamptz NOT NULL
    )`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE reconcile_turns');
  await knex.raw('DROP TABLE reconcile_positions');
}
