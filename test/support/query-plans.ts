import assert from 'node:assert/strict';
import type { Knex } from '../../shared/db/knex.js';

/** A statement as the service sent it. */
export interface Statement {
  sql: string;
  bindings: readonly unknown[];
}

/** How a plan reads one table, and how many rows it reads. */
interface TableRead {
  table: string;
  /** Undefined for a sequential scan. */
  index: string | undefined;
  rows: number;
}

/** The statements that the service sends during `act`, in their order. */
export async function allStatements(db: Knex, act: () => Promise<unknown>): Promise<Statement[]> {
  const sent: Statement[] = [];
  const note = ({ sql, bindings = [] }: { sql: string; bindings?: unknown[] }): void =>
    void sent.push({ sql, bindings });
  db.on('query', note);
  try {
    await act();
  } finally {
    db.removeListener('query', note);
  }
  return sent;
}

/** The statements during `act` that read or write tables, each distinct one once. */
export async function captureStatements(db: Knex, act: () => Promise<unknown>): Promise<Statement[]> {
  const sent = await allStatements(db, act);
  const ofTables = sent.filter(({ sql }) => /^[\s(]*(select|insert|update|delete|with)\b/i.test(sql));
  return [...new Map(ofTables.map((one) => [one.sql, one])).values()];
}

/** How the statements of `act`, of which there is at least one, read their tables. `scan` is a text about it. */
export async function tableReads(
  db: Knex,
  act: () => Promise<unknown>,
): Promise<(TableRead & { scan: string })[]> {
  const statements = await captureStatements(db, act);
  assert.notEqual(statements.length, 0, 'no statement was sent');
  const reads: (TableRead & { scan: string })[] = [];
  for (const statement of statements)
    for (const read of await explain(db, statement))
      reads.push({ ...read, scan: `${read.table} by ${read.index}, ${read.rows} rows: ${statement.sql}` });
  return reads;
}

interface PlanNode {
  'Relation Name'?: string;
  'Index Name'?: string;
  'Node Type': string;
  'Actual Rows'?: number;
  'Actual Loops'?: number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  Plans?: PlanNode[];
}

/**
 * Executes a reading statement and counts its rows. A writing one cannot be executed twice: it is only planned,
 * and counts when it scans a whole table.
 */
export async function explain(db: Knex, { sql, bindings }: Statement): Promise<TableRead[]> {
  const writes = /\b(insert into|update|delete from)\b/i.test(
    sql.replaceAll(/\bfor (no key )?update\b/gi, ''),
  );
  const options = writes ? 'FORMAT JSON' : 'ANALYZE, FORMAT JSON';
  const connection = await db.client.acquireConnection();
  try {
    const { rows } = await connection.query(`EXPLAIN (${options}) ${sql}`, [...bindings]);
    const sizes = await connection.query(
      `SELECT relname, reltuples FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`,
    );
    const sizeOf = new Map<string, number>(
      sizes.rows.map((row: { relname: string; reltuples: number }) => [row.relname, row.reltuples]),
    );
    return readsOf(rows[0]['QUERY PLAN'][0].Plan, sizeOf);
  } finally {
    await db.client.releaseConnection(connection);
  }
}

function readsOf(node: PlanNode, sizeOf: ReadonlyMap<string, number>): TableRead[] {
  const within = (node.Plans ?? []).flatMap((child) => readsOf(child, sizeOf));
  const table = node['Relation Name'];
  // `pg_database` has a row for each database of the server, and none for the service's objects.
  if (table === undefined || table === 'pg_database' || !node['Node Type'].endsWith('Scan')) return within;
  const index =
    node['Index Name'] ?? bitmapIndexOf(node) ?? (node['Node Type'] === 'Tid Scan' ? 'ctid' : undefined);
  const planned = index === undefined ? (sizeOf.get(table) ?? 0) : 0;
  return [{ table, index, rows: rowsLookedAt(node) ?? planned }, ...within];
}

function rowsLookedAt(node: PlanNode): number | undefined {
  if (node['Actual Rows'] === undefined) return undefined;
  const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
  return (node['Actual Rows'] + removed) * (node['Actual Loops'] ?? 1);
}

function bitmapIndexOf(node: PlanNode): string | undefined {
  for (const child of node.Plans ?? []) {
    const index = child['Index Name'] ?? bitmapIndexOf(child);
    if (index !== undefined) return index;
  }
  return undefined;
}
