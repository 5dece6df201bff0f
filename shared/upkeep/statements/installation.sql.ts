import type { Statement } from '../../db/statement.js';

/** Ages are Postgres' own, since the clocks of the processes may differ. A copy of a database has an oid of its own. */
export const READ_INSTALLATION: Statement = {
  text: `
    SELECT id, (SELECT oid::text FROM pg_database WHERE datname = current_database()) AS database, timeline,
      round(extract(epoch FROM clock_timestamp() - doubted_at) * 1000)::bigint AS "doubtedMsAgo"
    FROM installation`,
};

export const NOTE_TIMELINE: Statement = {
  text: 'UPDATE installation SET timeline = $1 WHERE timeline IS DISTINCT FROM $1',
};

export const NOTE_DOUBT: Statement = {
  text: 'UPDATE installation SET timeline = $1, doubted_at = clock_timestamp()',
};
