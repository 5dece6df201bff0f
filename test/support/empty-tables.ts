import { eventually } from '../../lab/world/processes/eventually.js';
import type { Knex } from '../../shared/db/knex.js';

/** Empties tables, and those that refer to them, while workers may still write to them. */
export async function emptyTables(db: Knex, ...tables: string[]): Promise<void> {
  // TRUNCATE and a worker's statement may lock two tables in different orders; Postgres then ends one of the two.
  await eventually(() => db.raw(`TRUNCATE ${tables.join()} CASCADE`));
}
