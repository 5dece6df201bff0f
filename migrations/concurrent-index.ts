import type { Knex } from 'knex';

/**
 * For a table that grows: nobody who writes to it waits for the index. The migration says
 * `export const config = { transaction: false }`, does nothing else, and may be run again when it was cut short: an index
 * that Postgres left half made is made anew.
 */
export async function createIndexConcurrently(
  knex: Knex,
  { name, unique = false, on }: NewIndex,
): Promise<void> {
  const { rows } = await knex.raw<{ rows: { indisvalid: boolean }[] }>(
    'SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(?)',
    [name],
  );
  const [left] = rows;
  if (left?.indisvalid === true) return;
  if (left !== undefined) await dropIndexConcurrently(knex, name);
  await knex.raw(`CREATE ${unique ? 'UNIQUE ' : ''}INDEX CONCURRENTLY ${name} ON ${on}`);
}

interface NewIndex {
  name: string;
  unique?: boolean;
  /** Table, columns and condition, as in `payments (stage, due_at) WHERE stage IS NOT NULL`. */
  on: string;
}

export async function dropIndexConcurrently(knex: Knex, name: string): Promise<void> {
  await knex.raw(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`);
}
