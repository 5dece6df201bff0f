import type { Knex } from '../../shared/db/knex.js';
import { GROWING_TABLES } from '../../shared/values/months.js';
import { captureStatements, type Statement } from './query-plans.js';

interface PlanNode {
  'Relation Name'?: string;
  'Node Type': string;
  'Actual Loops'?: number;
  Plans?: PlanNode[];
}

/** The tables of months that a statement reads, or writes to: carried out, and taken back. */
async function partitionsOf(db: Knex, { sql, bindings }: Statement): Promise<string[]> {
  const connection = await db.client.acquireConnection();
  try {
    await connection.query('BEGIN');
    const { rows } = await connection.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${sql}`, [...bindings]);
    return namesIn(rows[0]['QUERY PLAN'][0].Plan);
  } finally {
    await connection.query('ROLLBACK');
    await db.client.releaseConnection(connection);
  }
}

function namesIn(node: PlanNode): string[] {
  const within = (node.Plans ?? []).flatMap(namesIn);
  const name = node['Relation Name'];
  const isRead = node['Actual Loops'] !== 0 && node['Node Type'].endsWith('Scan');
  return name !== undefined && isRead ? [name, ...within] : within;
}

/** Of each statement that `act` sends the months of the tables that grow, each once. */
export async function partitionsRead(db: Knex, act: () => Promise<unknown>): Promise<string[][]> {
  const statements = await captureStatements(db, act);
  const read = [];
  for (const statement of statements) read.push(await partitionsOf(db, statement));
  return read.map((names) => [
    ...new Set(names.filter((name) => GROWING_TABLES.some((table) => name.startsWith(`${table}_`)))),
  ]);
}
