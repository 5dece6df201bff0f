import type { Statement } from '../../db/statement.js';
import { QUARANTINE_AFTER_CRASHES } from '../../limits/bounds.js';

/** The ids that workers have in hand of this work. */
export function inFlight(work: string): string {
  return `SELECT unnest(ids) FROM work_in_hand WHERE work = ${work}`;
}

/** Whether the row is one to be taken alone. */
export function isQuarantined(work: string, id: string): string {
  return `EXISTS (
    SELECT FROM crashed_work crashed
    WHERE crashed.work = ${work} AND crashed.id = ${id} AND crashed.deaths >= ${QUARANTINE_AFTER_CRASHES}
  )`;
}

/** How much longer a row waits after so many deaths: not at all before it was taken alone, then 1, 2, 4 … 64 minutes. */
export function pauseAfter(deaths: string): string {
  return `CASE WHEN ${deaths} <= ${QUARANTINE_AFTER_CRASHES} THEN interval '0'
    ELSE interval '1 minute' * 2 ^ least(${deaths} - ${QUARANTINE_AFTER_CRASHES + 1}, 6) END`;
}

/**
 * Those who finish theirs hold its row. What was taken before $1, and nobody holds, is nobody's any more. Two who took a
 * row in the same moment are one death of it.
 */
export const COUNT_CRASHES: Statement = {
  name: 'count-deaths',
  text: `
  WITH left_behind AS (
    DELETE FROM work_in_hand WHERE id IN (
      SELECT id FROM work_in_hand WHERE taken_at <= $1 FOR UPDATE SKIP LOCKED
    )
    RETURNING work, ids
  ), died AS (
    SELECT DISTINCT work, id FROM left_behind, unnest(ids) AS id
  )
  INSERT INTO crashed_work AS crashed (work, id, deaths, died_at, due_at)
  SELECT work, id, 1, $2, $2 FROM died
  ON CONFLICT (work, id) DO UPDATE
  SET deaths = crashed.deaths + 1, died_at = $2, due_at = $2::timestamptz + ${pauseAfter('crashed.deaths + 1')}
  RETURNING work, id, deaths`,
};

/** The one that fewest died with; not again within a second, should it be held by somebody else. */
export const TAKE_ONE_QUARANTINED: Statement = {
  name: 'take-one-apart',
  text: `
  WITH one AS (
    UPDATE crashed_work SET due_at = $2::timestamptz + interval '1 second'
    WHERE (work, id) IN (
      SELECT work, id FROM crashed_work
      WHERE work = $1 AND deaths >= ${QUARANTINE_AFTER_CRASHES} AND due_at <= $2 AND id NOT IN (${inFlight('$1')})
      ORDER BY deaths, due_at LIMIT 1 FOR UPDATE SKIP LOCKED
    )
    RETURNING work, id
  )
  INSERT INTO work_in_hand (work, ids, taken_at) SELECT work, ARRAY[id], $2 FROM one
  RETURNING id, ids`,
};

/** They ended otherwise since. */
export const FORGET_CRASHES: Statement = {
  name: undefined,
  text: `DELETE FROM crashed_work WHERE deaths < ${QUARANTINE_AFTER_CRASHES} AND died_at < $1`,
};
