import type { Knex } from '../db/knex.js';
import { isDatabaseUnavailable, sqlState } from '../db/postgres-errors.js';
import { WrongDefaults } from '../db/session-defaults.js';
import { runStatement } from '../db/statement.js';
import { WRITE_PROBE } from './statements/write-probe.sql.js';

export type DatabaseState = 'ok' | 'read_only' | 'full' | 'not_writable' | 'misconfigured' | 'down';

const READ_ONLY = '25006';
const DISK_FULL = '53100';

/** Writes a row, since a read-only or full database still answers reads. Throws the error of Postgres. */
export async function probeWriting(db: Knex): Promise<void> {
  await runStatement(db, WRITE_PROBE, []);
}

export function databaseState(error: unknown): DatabaseState {
  if (error instanceof WrongDefaults) return 'misconfigured';
  const state = sqlState(error);
  if (state === READ_ONLY) return 'read_only';
  if (state === DISK_FULL) return 'full';
  return state === undefined || isDatabaseUnavailable(error) ? 'down' : 'not_writable';
}
