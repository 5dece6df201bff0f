import { ConfigError } from '../config/config.js';
import type { Knex } from '../db/knex.js';
import { runStatement, type Statement } from '../db/statement.js';

/** Earlier releases could partition these tables by month (`npm run migrate -- --by-month`). */
const TABLES_BY_MONTH: Statement = {
  text: `
    SELECT FROM pg_class
    WHERE oid IN (to_regclass('payables'), to_regclass('payments')) AND relkind = 'p'`,
};

export async function refuseTablesByMonth(db: Knex): Promise<void> {
  if ((await runStatement(db, TABLES_BY_MONTH, [])).length === 0) return;
  throw new ConfigError(
    'This database was migrated --by-month, which this release does not support, so nothing was changed: stay with the release ' +
      'that runs on it, or first copy its rows into a new database (docs/operate.md, "Leaving tables by month").',
  );
}
