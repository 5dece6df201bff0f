import type { Statement } from '../../db/statement.js';

/**
 * Ages are compared by Postgres' clock, which all processes share. A killed process is counted for another 10 s, and not
 * until a clock that was set back is where it was.
 */
const GONE = `abs(extract(epoch FROM now() - seen_at)) > 10`;

/** The count excludes the calling process: a statement does not see rows that it writes itself. */
export const COUNT_CALLERS: Statement = {
  text: `
    WITH gone AS (
      DELETE FROM facilitator_callers WHERE id IN (
        SELECT id FROM facilitator_callers WHERE ${GONE} AND id <> $1 FOR UPDATE SKIP LOCKED
      )
    ), here AS (
      INSERT INTO facilitator_callers (id, kind, seen_at) VALUES ($1, $2, now())
      ON CONFLICT (id) DO UPDATE SET seen_at = now()
    )
    SELECT kind, count(*)::int AS count FROM facilitator_callers
    WHERE id <> $1 AND NOT ${GONE}
    GROUP BY kind`,
};

export const LEAVE_CALLERS: Statement = { text: 'DELETE FROM facilitator_callers WHERE id = $1' };
