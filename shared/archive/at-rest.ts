import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import type { Month } from '../values/months.js';
import { findUnfinished } from './statements/at-rest.sql.js';

/** What keeps a month from being archived. */
export interface Unfinished {
  kind: string;
  count: number;
  /** The id of one. */
  example: string | null;
}

export async function listUnfinished(db: Knex, month: Month): Promise<Unfinished[]> {
  return await runStatement<Unfinished>(db, findUnfinished(month), []);
}
