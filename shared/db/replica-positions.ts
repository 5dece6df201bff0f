import { withTimeout } from '../process/timeout.js';
import type { Knex } from './knex.js';
import { sqlState } from './postgres-errors.js';
import { REFUSED_FOR_GOOD, SERVER, timelineOf } from './read-server.js';
import { runStatement } from './statement.js';

/** The clock is read before the position, so every commit before `at` lies at or below `lsn`. */
const WRITTEN = 'SELECT clock_timestamp()::text AS at, pg_current_wal_insert_lsn()::text AS lsn';
const SHOWN = `SELECT pg_is_in_recovery() AS "isStandby",
  CASE WHEN pg_is_in_recovery() THEN coalesce(pg_last_wal_replay_lsn() >= $1::pg_lsn, false) END AS "hasReplayed"`;
/** A role without pg_monitor does not see `received_tli`. The control file's timelines follow within `checkpoint_timeout`. */
const SHOWN_TIMELINE = `greatest((SELECT received_tli FROM pg_stat_wal_receiver),
  (SELECT min_recovery_end_timeline FROM pg_control_recovery()),
  (SELECT timeline_id FROM pg_control_checkpoint())) AS timeline`;

/** Both are null where Postgres does not tell them: managed services refuse these functions to their users, or lack them. */
interface Origin {
  server?: string | null;
  timeline?: number | null;
}

export interface Written extends Origin {
  at: string;
  lsn: string;
}

interface Shown extends Origin {
  isStandby: boolean;
  hasReplayed: boolean | null;
}

const asksLess = new WeakSet<Knex>();

export async function askWritten(primary: Knex, timeoutMs: number): Promise<Written | undefined> {
  const texts = {
    less: WRITTEN,
    more: `${WRITTEN}, ${SERVER}, ${timelineOf('pg_current_wal_insert_lsn()')}`,
  };
  return await withTimeout(timeoutMs, ask<Written>(primary, texts, []));
}

export async function askShown(standby: Knex, lsn: string, timeoutMs: number): Promise<Shown | undefined> {
  const texts = { less: SHOWN, more: `${SHOWN}, ${SERVER}, ${SHOWN_TIMELINE}` };
  return await withTimeout(timeoutMs, ask<Shown>(standby, texts, [lsn]));
}

/**
 * Positions of two servers say nothing about each other. After a failover a standby may still follow the former primary, and
 * be further in its log than the new one is in its own.
 */
export function isOfAnother(shown: Origin, written: Origin): boolean {
  const { server, timeline } = written;
  const isElsewhere =
    typeof server === 'string' && typeof shown.server === 'string' && server !== shown.server;
  return isElsewhere || (typeof timeline === 'number' && (shown.timeline ?? timeline) < timeline);
}

async function ask<Row>(
  db: Knex,
  { less, more }: Record<'less' | 'more', string>,
  values: readonly unknown[],
): Promise<Row | undefined> {
  if (!asksLess.has(db)) {
    try {
      return (await runStatement<Row>(db, { text: more }, values))[0];
    } catch (error) {
      if (!REFUSED_FOR_GOOD.has(sqlState(error) ?? '')) throw error;
      asksLess.add(db);
    }
  }
  return (await runStatement<Row>(db, { text: less }, values))[0];
}
