import type { DatabaseConfig } from '../config/config.js';
import type { Logger } from '../process/logger.js';
import type { Closable } from '../process/shutdown.js';
import { TimedOut, withTimeout } from '../process/timeout.js';
import { type Knex, openDatabase } from './knex.js';
import { isDatabaseUnavailable } from './postgres-errors.js';
import { askShown, askWritten, isOfAnother, type Written } from './replica-positions.js';

/**
 * A streaming standby that serves reads in place of the primary. At each interval the primary returns its time and WAL
 * position; once the standby has replayed that position, it shows everything committed before that time. The standby is
 * not used while it is unavailable, lags too far, or is not in recovery.
 */
export interface Replica extends Closable {
  /** Commits before this time of the primary's clock are visible. Undefined while the standby is not used. */
  shownUntil(): string | undefined;
  /** Undefined when the standby is not used, or the read failed: the caller then reads from the primary. */
  ask<T>(read: (db: Knex) => Promise<T>): Promise<{ found: T } | undefined>;
}

interface ReplicaTimes {
  checkEveryMs: number;
  /** A standby that lags more is not used. */
  maxLagMs: number;
  timeoutMs: number;
}

const TIMES: ReplicaTimes = { checkEveryMs: 500, maxLagMs: 5000, timeoutMs: 3000 };

/** Every state but `serves` is the `why` of log lines. */
type ReplicaState = 'serves' | 'away' | 'behind' | 'not_a_standby';

const HINTS: Record<Exclude<ReplicaState, 'serves'>, string> = {
  away: 'DATABASE_REPLICA_URL does not answer. DATABASE_URL serves its reads meanwhile.',
  behind:
    'DATABASE_REPLICA_URL is seconds behind DATABASE_URL, or follows another server. DATABASE_URL serves its reads meanwhile.',
  not_a_standby:
    'DATABASE_REPLICA_URL is not in recovery: it was promoted, or never was a standby. It is not used. Set DATABASE_URL to the server that takes writes, and DATABASE_REPLICA_URL to one that follows it.',
};

export function openReplica(
  primary: Knex,
  config: DatabaseConfig,
  logger: Logger,
  { checkEveryMs, maxLagMs, timeoutMs }: ReplicaTimes = TIMES,
): Replica {
  const queryTimeoutMs = Math.min(config.queryTimeoutMs, timeoutMs);
  const db = openDatabase({ ...config, queryTimeoutMs }, logger, { readsClock: false });
  const openedAt = performance.now();
  let state: ReplicaState | undefined;
  let shown: { until: string; askedAt: number } | undefined;
  /** The primary's position that the standby has yet to replay. */
  let goal: { written: Written; askedAt: number } | undefined;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;

  function setState(next: ReplicaState): void {
    if (next === state || isClosed) return;
    state = next;
    if (next === 'serves') logger.info({ event: 'replica.serves' });
    else logger.warn({ event: 'replica.left_out', why: next, hint: HINTS[next] });
  }

  async function check(): Promise<void> {
    // After a failover the standby may never reach the old primary's position.
    if (goal !== undefined && performance.now() - goal.askedAt > maxLagMs) goal = undefined;
    // An unavailable primary is reported elsewhere.
    goal ??= await nextGoal(primary, timeoutMs).catch(() => undefined);
    if (goal === undefined) return;
    const { written, askedAt } = goal;
    try {
      const standby = await askShown(db, written.lsn, timeoutMs);
      if (standby?.isStandby !== true) return setState('not_a_standby');
      if (isOfAnother(standby, written)) {
        shown = undefined;
        goal = undefined;
        return setState('behind');
      }
      if (standby.hasReplayed) {
        shown = { until: written.at, askedAt };
        goal = undefined;
      }
      if (isBehind()) setState('behind');
      else if (shown !== undefined) setState('serves');
    } catch {
      goal = undefined;
      setState('away');
    }
  }

  function isBehind(): boolean {
    return performance.now() - (shown?.askedAt ?? openedAt) > maxLagMs;
  }

  async function watch(): Promise<void> {
    await check();
    if (isClosed) return;
    timer = setTimeout(() => {
      checking = watch();
    }, checkEveryMs);
    timer.unref();
  }
  let checking = watch();

  const shownUntil = (): string | undefined =>
    state === 'serves' && !isBehind() && !isClosed ? shown?.until : undefined;

  return {
    shownUntil,
    async ask(read) {
      if (shownUntil() === undefined) return undefined;
      try {
        return { found: await withTimeout(timeoutMs, read(db)) };
      } catch (error) {
        // Other errors do not concern the next read: a row that is not replayed yet, or a statement canceled by recovery.
        if (error instanceof TimedOut || isDatabaseUnavailable(error)) setState('away');
        return undefined;
      }
    },
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await checking;
      await db.destroy();
    },
  };
}

async function nextGoal(
  primary: Knex,
  timeoutMs: number,
): Promise<{ written: Written; askedAt: number } | undefined> {
  const askedAt = performance.now();
  const written = await askWritten(primary, timeoutMs);
  return written && { written, askedAt };
}
