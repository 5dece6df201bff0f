import { sqlState } from './constraints.js';
import type { Knex } from './knex.js';

/**
 * Named statements are kept by a connection of Postgres. A pooler that gives each transaction another one, and knows
 * nothing of names, loses them: the first that is lost shows it, and from there on none is named.
 */
const NAME_UNKNOWN = '26000';
const NAME_TAKEN = '42P05';

export function keepsStatements(db: Knex): boolean {
  return db.userParams.preparedStatements === true;
}

/** Neither was carried out. */
export function wasLost(error: unknown): boolean {
  const state = sqlState(error);
  return state === NAME_UNKNOWN || state === NAME_TAKEN;
}

export function keepNoneFromHere(db: Knex): void {
  if (!keepsStatements(db)) return;
  db.userParams.preparedStatements = false;
  db.userParams.onStatementLost?.();
}
