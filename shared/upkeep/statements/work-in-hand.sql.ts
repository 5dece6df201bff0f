import type { Statement } from '../../db/statement.js';
import { ALONE_AFTER_DEATHS } from '../../limits/bounds.js';

/** The ids that workers have in hand of this work. */
export function inHand(work: string): string {
  return `SELECT unnest(ids) FROM work_in_hand WHERE work = ${work}`;
}

/** Whether the row is one to be taken alone. */
export function isApart(work: string, id: string): string {
  return `EXISTS (
    SELECT FROM crashed_work crashed
    WHERE crashed.work = ${work} AND crashed.id = ${id} AND crashed.deaths >= ${ALONE_AFTER_DEATHS}
  )`;
}

/** How much longer a row waits after so many deaths: not at all before it was taken alone, then 1, 2, 4 … 64 minutes. */
export function pauseAfter(deaths: string): string {
  return `CASE WHEN ${deaths} <= ${ALONE_AFTER_DEATHS} THEN interval '0'
    ELSE interval '1 minute' * 2 ^ least(${deaths} - ${ALONE_AFTER_DEATHS + 1}, 6) END`;
}

/**
 * Those who finish theirs hold its row. What was taken before $1, and nobody holds, is nobody's any more. Two who took a
 * row in the same moment are one death of it.
 */
export const COUNT_DEATHS: Statement = {
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
export const TAKE_ONE_APART: Statement = {
  name: 'take-one-apart',
  text: `
  WITH one AS (
    UPDATE crashed_work SET due_at = $2::timestamptz + interval '1 second'
    WHERE (work, id) IN (
      SELECT work, id FROM crashed_work
      WHERE work = $1 AND deaths >= ${ALONE_AFTER_DEATHS} AND due_at <= $2 AND id NOT IN (${inHand('$1')})
      ORDER BY deaths, due_at LIMIT 1 FOR UPDATE SKIP LOCKED
    )
    RETURNING work, id
  )
  INSERT INTO work_in_hand (work, ids, taken_at) SELECT work, ARRAY[id], $2 FROM one
  RETURNING id, ids`,
};

/** They ended otherwise since. */
export const FORGET_DEATHS: Statement = {
  name: undefined,
  text: `DELETE FROM crashed_work WHERE deaths < ${ALONE_AFTER_DEATHS} AND died_at < $1`,
};
