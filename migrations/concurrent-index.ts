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
  const [, table = '', rest = ''] = /^(\w+)([\s\S]*)$/.exec(on) ?? [];
  if (!(await isKind(knex, table, 'p'))) {
    await knex.raw(`CREATE ${unique ? 'UNIQUE ' : ''}INDEX CONCURRENTLY ${name} ON ${on}`);
    return;
  }
  if (unique) throw new Error(`${table} is kept by month: what is unique in it needs a table of its own.`);
  // New months have it from here on; it is valid as soon as all of before have it, too.
  await knex.raw(`CREATE INDEX ${name} ON ONLY ${on}`);
  for (const [place, partition] of (await partitionsWithout(knex, table, name)).entries()) {
    const own = `${name}_${place}`;
    await knex.raw(`DROP INDEX CONCURRENTLY IF EXISTS ${own}`);
    await knex.raw(`CREATE INDEX CONCURRENTLY ${own} ON ${partition}${rest}`);
    await knex.raw(`ALTER INDEX ${name} ATTACH PARTITION ${own}`);
  }
}

/** Of a table, `p`, or an index, `I`, that is kept by month. */
async function isKind(knex: Knex, name: string, kind: 'p' | 'I'): Promise<boolean> {
  const { rows } = await knex.raw<{ rows: object[] }>(
    'SELECT FROM pg_class WHERE oid = to_regclass(?) AND relkind = ?',
    [name, kind],
  );
  return rows.length > 0;
}

async function partitionsWithout(knex: Knex, table: string, index: string): Promise<string[]> {
  const { rows } = await knex.raw<{ rows: { partition: string }[] }>(
    `SELECT inhrelid::regclass::text AS partition FROM pg_inherits month WHERE inhparent = to_regclass(?)
      AND NOT EXISTS (
        SELECT FROM pg_inherits own JOIN pg_index ON indexrelid = own.inhrelid
        WHERE own.inhparent = to_regclass(?) AND indrelid = month.inhrelid
      )`,
    [table, index],
  );
  return rows.map(({ partition }) => partition);
}

interface NewIndex {
  name: string;
  unique?: boolean;
  /** Table, columns and condition, as in `payments (stage, due_at) WHERE stage IS NOT NULL`. */
  on: string;
}

export async function dropIndexConcurrently(knex: Knex, name: string): Promise<void> {
  // That of a table that is kept by month goes at once, and with it those of its months.
  const how = (await isKind(knex, name, 'I')) ? '' : 'CONCURRENTLY';
  await knex.raw(`DROP INDEX ${how} IF EXISTS ${name}`);
}
