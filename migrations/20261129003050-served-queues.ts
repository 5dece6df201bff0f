import type { Knex } from 'knex';

/** A worker renews a row for each of its queues every few seconds, so that a queue without a worker is noticed. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE UNLOGGED TABLE served_queues (
      worker text NOT NULL,
      queue text NOT NULL,
      seen_at timestamptz NOT NULL,
      PRIMARY KEY (worker, queue)
    )`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE served_queues');
}
