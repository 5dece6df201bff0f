import type pg from 'pg';

interface Copies {
  count: number;
  /** Their end has come. */
  areOverdue?: boolean;
}

const COLUMNS = `
  SELECT column_name AS name FROM information_schema.columns
  WHERE table_schema = 'public' AND table_name = 'checkout_sessions'`;

/** Copies a session of full size column by column: Postgres then copies its line items as they are stored. Returns the ids. */
export async function copySession(
  db: pg.Client,
  id: string,
  { count, areOverdue = false }: Copies,
): Promise<string[]> {
  const { rows: columns } = await db.query<{ name: string }>(COLUMNS);
  const values: Record<string, string> = {
    id: `left(id, -6) || lpad(n::text, 6, '0')`,
    expires_at: areOverdue ? 'now()' : 'expires_at',
  };
  const { rows: copies } = await db.query<{ id: string }>(
    `INSERT INTO checkout_sessions (${columns.map(({ name }) => name).join()})
     SELECT ${columns.map(({ name }) => values[name] ?? name).join()}
     FROM checkout_sessions, generate_series(1, $2::int) n WHERE id = $1
     RETURNING id`,
    [id, count],
  );
  return copies.map((copy) => copy.id);
}
