import type { Knex } from 'knex';

/**
 * Records the work of crashed workers. A batch is inserted into work_in_hand before the work and deleted by the statement
 * that finishes it; crashed_work counts crashes per row of unfinished batches.
 * Payments have a count of their own: lost_takes counts the takes since an outcome was last written, the current one
 * included.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE work_in_hand (
      id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
      work text NOT NULL,
      ids text[] NOT NULL,
      taken_at timestamptz NOT NULL
    )`);
  await knex.raw(`
    CREATE TABLE crashed_work (
      work text NOT NULL,
      id text COLLATE "C" NOT NULL,
      deaths integer NOT NULL,
      died_at timestamptz NOT NULL,
      due_at timestamptz NOT NULL,
      PRIMARY KEY (work, id)
    )`);
  await knex.raw('ALTER TABLE payments ADD COLUMN lost_takes integer NOT NULL DEFAULT 0');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE payments DROP COLUMN lost_takes');
  await knex.raw('DROP TABLE crashed_work');
  await knex.raw('DROP TABLE work_in_hand');
}
