import type { Knex } from 'knex';

/**
 * Creates an index on a large table: CONCURRENTLY does not block writers. It needs a migration of its own with `export const
 * config = { transaction: false }`. An interrupted migration can be run again: an invalid index that Postgres left behind is
 * dropped first.
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
