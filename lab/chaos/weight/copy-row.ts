import type pg from 'pg';

interface Copies {
  table: 'checkout_sessions' | 'webhook_endpoints';
  count: number;
  /** SQL for the columns that differ, where `n` counts the copies from 1. */
  differing?: Record<string, string>;
}

const COLUMNS = `
  SELECT column_name AS name FROM information_schema.columns
  WHERE table_schema = 'public' AND table_name = $1`;

/** Copies a row column by column: Postgres then copies long values as they are stored. Returns the new ids. */
export async function copyRow(
  db: pg.Client,
  id: string,
  { table, count, differing = {} }: Copies,
): Promise<string[]> {
  const { rows: columns } = await db.query<{ name: string }>(COLUMNS, [table]);
  const values: Record<string, string> = { id: `left(id, -6) || lpad(n::text, 6, '0')`, ...differing };
  const { rows: copies } = await db.query<{ id: string }>(
    `INSERT INTO ${table} (${columns.map(({ name }) => name).join()})
     SELECT ${columns.map(({ name }) => values[name] ?? name).join()}
     FROM ${table}, generate_series(1, $2::int) n WHERE id = $1
     RETURNING id`,
    [id, count],
  );
  return copies.map((copy) => copy.id);
}
