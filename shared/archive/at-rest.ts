import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import type { Month } from '../values/months.js';
import { findUnfinished } from './statements/at-rest.sql.js';

/** Unfinished rows prevent the archiving of a month. */
export interface Unfinished {
  kind: string;
  count: number;
  /** The id of one of the rows. */
  example: string | null;
}

export async function listUnfinished(db: Knex, month: Month): Promise<Unfinished[]> {
  return await runStatement<Unfinished>(db, findUnfinished(month), []);
}
