import type { Knex } from './knex.js';
import { sqlState } from './postgres-errors.js';

/**
 * A connection of Postgres keeps named statements. A pooler in transaction mode that does not track names gives each
 * transaction another connection, where the name is unknown or already taken. The first such error turns names off.
 */
const NAME_UNKNOWN = '26000';
const NAME_TAKEN = '42P05';

export function preparesStatements(db: Knex): boolean {
  return db.userParams.preparedStatements === true;
}

/** With either error Postgres has not executed the statement. */
export function isPreparedStatementLost(error: unknown): boolean {
  const state = sqlState(error);
  return state === NAME_UNKNOWN || state === NAME_TAKEN;
}

export function stopPreparingStatements(db: Knex): void {
  if (!preparesStatements(db)) return;
  db.userParams.preparedStatements = false;
  db.userParams.onStatementLost?.();
}
