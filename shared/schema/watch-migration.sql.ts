import type { Statement } from '../db/statement.js';

/** The application name of a migration's own connections. */
export const MIGRATION_APPLICATION = 'checkout_migrate';

/** The longest open transactions, which may hold the lock that a migration waits for. */
export const OPEN_TRANSACTIONS: Statement = {
  text: `
    SELECT pid, usename AS "user", application_name AS application, state,
      round(extract(epoch FROM clock_timestamp() - xact_start))::int AS seconds
    FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name <> '${MIGRATION_APPLICATION}'
      AND xact_start < clock_timestamp() - interval '500 ms'
    ORDER BY xact_start LIMIT 3`,
};

export const INDEX_PROGRESS: Statement = {
  text: `
    SELECT phase, blocks_done::float8 AS blocks_done, blocks_total::float8 AS blocks_total,
      current_locker_pid AS waits_for
    FROM pg_stat_progress_create_index WHERE datname = current_database() LIMIT 1`,
};
