import { correctClock, unmockedHostMs } from '../process/clock.js';
import type { CommitMemory, Position } from './commit-memory.js';
import type { PostgresClient } from './idle-connection.js';
import { isDatabaseUnavailable, sqlState } from './postgres-errors.js';
import { requireDefaults, SESSION_DEFAULTS, type SessionDefaults } from './session-defaults.js';

type Connection = Pick<PostgresClient, 'query'>;

/** A slower answer bounds the clock too loosely to be of use. */
const TIMEOUT_MS = 5000;
/** `numeric`, since `extra_float_digits` may round a floating-point number to years. */
const CLOCK = 'extract(epoch FROM clock_timestamp()) * 1000 AS ms';
export const SERVER = '(SELECT system_identifier::text FROM pg_control_system()) AS server';
/** The first checkpoint of a timeline comes right after its promotion, and the next one minutes later. */
const CHECKPOINT = `(SELECT json_build_object('timeline', timeline_id, 'at', (redo_lsn - '0/0')::text)
  FROM pg_control_checkpoint()) AS checkpoint`;

/** The first eight digits of a log file's name are the timeline. */
export const timelineOf = (lsn: string): string =>
  `('x' || substr(pg_walfile_name(${lsn}), 1, 8))::bit(32)::int AS timeline`;

/** A server in recovery has no position of its own. */
const POSITION = `
  flushed.lsn - '0/0' AS flushed, ${timelineOf('flushed.lsn')}
  FROM (
    SELECT CASE WHEN pg_is_in_recovery() THEN NULL ELSE pg_current_wal_flush_lsn() END AS lsn OFFSET 0
  ) AS flushed`;

/** Managed services refuse some of these functions to their users, or lack them: the next text asks for less. */
const READS = [
  `SELECT ${CLOCK}, ${SESSION_DEFAULTS}, ${SERVER}, ${CHECKPOINT}, ${POSITION}`,
  `SELECT ${CLOCK}, ${SESSION_DEFAULTS}, ${POSITION}`,
  `SELECT ${CLOCK}, ${SESSION_DEFAULTS}`,
].map((text) => ({ text, query_timeout: TIMEOUT_MS }));
const CLOCK_ONLY = READS.length - 1;
/** A missing privilege, a missing function, a feature that is not supported. */
export const REFUSED_FOR_GOOD = new Set(['42501', '42883', '0A000']);

interface Reading {
  ms: string;
  defaults: SessionDefaults;
  flushed?: string | null;
  timeline?: number | null;
  server?: string | null;
  checkpoint?: { timeline: number; at: string };
}

/** The number of the first text that this Postgres accepts. */
const accepted = new WeakMap<CommitMemory, number>();

/** Reads Postgres' clock, the session's defaults and, where Postgres tells it, how far it has written: in one round trip. */
export async function readServer(connection: Connection, commits?: CommitMemory): Promise<void> {
  const first = commits === undefined ? CLOCK_ONLY : (accepted.get(commits) ?? 0);
  for (const [number, read] of READS.entries()) {
    if (number < first) continue;
    const askedAtMs = unmockedHostMs();
    const asked = commits?.ask();
    try {
      const [reading] = (await connection.query<Reading>(read)).rows;
      if (reading === undefined) return;
      requireDefaults(reading.defaults);
      correctClock(Number(reading.ms), { askedAtMs, answeredAtMs: unmockedHostMs() });
      if (asked !== undefined) commits?.answer(asked, positionOf(reading));
      return;
    } catch (error) {
      const state = sqlState(error);
      if (number === CLOCK_ONLY || state === undefined || isDatabaseUnavailable(error)) throw error;
      if (commits !== undefined && REFUSED_FOR_GOOD.has(state)) accepted.set(commits, number + 1);
    }
  }
}

function positionOf({ flushed, timeline, server, checkpoint }: Reading): Position | undefined {
  if (typeof flushed !== 'string' || typeof timeline !== 'number') return undefined;
  const at = Number(flushed);
  const hasCheckpoint = checkpoint !== undefined && checkpoint.timeline === timeline;
  const beganBy = hasCheckpoint ? Math.min(at, Number(checkpoint.at)) : at;
  return { flushed: at, timeline, beganBy, server: server ?? null };
}
