import type { Statement } from '../../db/statement.js';
import { QUARANTINE_AFTER_CRASHES } from '../../limits/bounds.js';

/** The ids of this kind of work that workers have taken. */
export function inFlight(work: string): string {
  return `SELECT unnest(ids) FROM work_in_hand WHERE work = ${work}`;
}

export function isQuarantined(work: string, id: string): string {
  return `EXISTS (
    SELECT FROM crashed_work crashed
    WHERE crashed.work = ${work} AND crashed.id = ${id} AND crashed.deaths >= ${QUARANTINE_AFTER_CRASHES}
  )`;
}

/** Condition of a payment or delivery on which workers have crashed: it is taken alone. */
export const IS_QUARANTINED = `lost_takes >= ${QUARANTINE_AFTER_CRASHES}`;
export const NOT_QUARANTINED = `lost_takes < ${QUARANTINE_AFTER_CRASHES}`;

/** The pause before a quarantined row is taken again: none the first time, then 1, 2, 4 … 64 minutes. */
export function pauseAfter(crashes: string): string {
  return `CASE WHEN ${crashes} <= ${QUARANTINE_AFTER_CRASHES} THEN interval '0'
    ELSE interval '1 minute' * 2 ^ least(${crashes} - ${QUARANTINE_AFTER_CRASHES + 1}, 6) END`;
}

/**
 * A worker keeps its `work_in_hand` row locked while it finishes the batch. An unlocked row older than $1 belongs to a
 * crashed worker. Two workers that crash on the same row count as one crash.
 */
export const COUNT_CRASHES: Statement = {
  name: 'count-crashes',
  text: `
  WITH abandoned AS (
    DELETE FROM work_in_hand WHERE id IN (
      -- A time in the future was written before Postgres' clock was set back.
      SELECT id FROM work_in_hand WHERE taken_at <= $1 OR taken_at > $2::timestamptz + interval '5 seconds'
      FOR UPDATE SKIP LOCKED
    )
    RETURNING work, ids
  ), crashed_on AS (
    SELECT DISTINCT work, id FROM abandoned, unnest(ids) AS id
  )
  INSERT INTO crashed_work AS crashed (work, id, deaths, died_at, due_at)
  SELECT work, id, 1, $2, $2 FROM crashed_on
  ON CONFLICT (work, id) DO UPDATE
  SET deaths = crashed.deaths + 1, died_at = $2, due_at = $2::timestamptz + ${pauseAfter('crashed.deaths + 1')}
  RETURNING work, id, deaths AS crashes`,
};

/** Takes the due row with the fewest crashes. A row that another transaction locks is tried again after a second. */
export const TAKE_ONE_QUARANTINED: Statement = {
  name: 'take-one-quarantined',
  text: `
  WITH one AS (
    UPDATE crashed_work SET due_at = $2::timestamptz + interval '1 second'
    WHERE (work, id) IN (
      SELECT work, id FROM crashed_work
      WHERE work = $1 AND deaths >= ${QUARANTINE_AFTER_CRASHES}
        AND (due_at <= $2 OR due_at > $2::timestamptz + interval '65 minutes') AND id NOT IN (${inFlight('$1')})
      ORDER BY deaths, due_at LIMIT 1 FOR UPDATE SKIP LOCKED
    )
    RETURNING work, id
  )
  INSERT INTO work_in_hand (work, ids, taken_at) SELECT work, ARRAY[id], $2 FROM one
  RETURNING id, ids`,
};

/** Deletes old crash counts below the quarantine threshold. */
export const REMOVE_OLD_CRASHES: Statement = {
  text: `DELETE FROM crashed_work WHERE deaths < ${QUARANTINE_AFTER_CRASHES} AND died_at < $1`,
};
