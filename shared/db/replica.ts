import type { DatabaseConfig } from '../config/config.js';
import type { Logger } from '../process/logger.js';
import type { Closable } from '../process/shutdown.js';
import { TookTooLong, within } from '../process/within.js';
import { isDatabaseUnavailable } from './constraints.js';
import { type Knex, openDatabase } from './knex.js';
import { runStatement } from './statement.js';

/**
 * A streaming standby that answers in place of the primary. Every moment the primary is asked its time and how far it has
 * written, and the standby whether it has come so far: then it shows whatever was committed before that time. It is left
 * out while it does not answer, is behind for long, or is no standby (any more): what it says then is not the primary's.
 */
export interface Replica extends Closable {
  /** By the primary's clock: what was committed before then is shown. Undefined while it is left out. */
  shownUntil(): string | undefined;
  /** Undefined when it is left out, fails, or refuses: then the primary is to be asked. */
  ask<T>(read: (db: Knex) => Promise<T>): Promise<{ found: T } | undefined>;
}

export interface ReplicaTimes {
  /** Between two questions how far it has come. */
  everyMs: number;
  /** From here on it is left out. */
  mostBehindMs: number;
  /** For an answer. */
  patienceMs: number;
}

const TIMES: ReplicaTimes = { everyMs: 500, mostBehindMs: 5000, patienceMs: 3000 };

type Standing = 'serves' | 'away' | 'behind' | 'not_a_standby';

const HINTS: Record<Exclude<Standing, 'serves'>, string> = {
  away: 'DATABASE_REPLICA_URL does not answer. DATABASE_URL does its work meanwhile.',
  behind:
    'DATABASE_REPLICA_URL is seconds behind DATABASE_URL, or follows another server. DATABASE_URL does its work meanwhile.',
  not_a_standby:
    'DATABASE_REPLICA_URL is not in recovery: it was promoted, or never was a standby. It is not asked. Set DATABASE_URL to the server that takes writes, and DATABASE_REPLICA_URL to one that follows it.',
};

/** The time first: what was committed before it is in the log by then, on the disk or, of a claim, not there yet. */
const WRITTEN = {
  name: undefined,
  text: 'SELECT clock_timestamp()::text AS at, pg_current_wal_insert_lsn()::text AS place',
};
const SHOWN = {
  name: undefined,
  text: `SELECT pg_is_in_recovery() AS "isStandby",
    CASE WHEN pg_is_in_recovery() THEN coalesce(pg_last_wal_replay_lsn() >= $1::pg_lsn, false) END AS "hasPlace"`,
};

interface Written {
  at: string;
  place: string;
}

export function openReplica(
  primary: Knex,
  config: DatabaseConfig,
  logger: Logger,
  { everyMs, mostBehindMs, patienceMs }: ReplicaTimes = TIMES,
): Replica {
  const queryTimeoutMs = Math.min(config.queryTimeoutMs, patienceMs);
  const db = openDatabase({ ...config, queryTimeoutMs }, logger, { tellsClock: false });
  const openedAt = performance.now();
  let standing: Standing | undefined;
  let shown: { until: string; askedAt: number } | undefined;
  /** What it is yet to show. */
  let goal: { written: Written; askedAt: number } | undefined;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;

  function become(next: Standing): void {
    if (next === standing || isClosed) return;
    standing = next;
    if (next === 'serves') logger.info({ event: 'replica.serves' });
    else logger.warn({ event: 'replica.left_out', why: next, hint: HINTS[next] });
  }

  async function look(): Promise<void> {
    // After a failover the place may be one that nobody comes to.
    if (goal !== undefined && performance.now() - goal.askedAt > mostBehindMs) goal = undefined;
    // When the primary cannot be asked, all else says so; nothing is read then.
    goal ??= await nextGoal(primary, patienceMs).catch(() => undefined);
    if (goal === undefined) return;
    const { written, askedAt } = goal;
    try {
      const rows = await within(patienceMs, runStatement<Shown>(db, SHOWN, [written.place]));
      const [{ isStandby, hasPlace } = NEITHER] = rows;
      if (!isStandby) return become('not_a_standby');
      if (hasPlace) {
        shown = { until: written.at, askedAt };
        goal = undefined;
      }
      if (isBehind()) become('behind');
      else if (shown !== undefined) become('serves');
    } catch {
      goal = undefined;
      become('away');
    }
  }

  function isBehind(): boolean {
    return performance.now() - (shown?.askedAt ?? openedAt) > mostBehindMs;
  }

  async function watch(): Promise<void> {
    await look();
    if (isClosed) return;
    timer = setTimeout(() => {
      looking = watch();
    }, everyMs);
    timer.unref();
  }
  let looking = watch();

  const shownUntil = (): string | undefined =>
    standing === 'serves' && !isBehind() && !isClosed ? shown?.until : undefined;

  return {
    shownUntil,
    async ask(read) {
      if (shownUntil() === undefined) return undefined;
      try {
        return { found: await within(patienceMs, read(db)) };
      } catch (error) {
        // What it misses may be on the primary, and a statement that it ends says nothing of the next one.
        if (error instanceof TookTooLong || isDatabaseUnavailable(error)) become('away');
        return undefined;
      }
    },
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await looking;
      await db.destroy();
    },
  };
}

interface Shown {
  isStandby: boolean;
  hasPlace: boolean | null;
}

const NEITHER: Shown = { isStandby: false, hasPlace: null };

async function nextGoal(
  primary: Knex,
  patienceMs: number,
): Promise<{ written: Written; askedAt: number } | undefined> {
  const askedAt = performance.now();
  const [written] = await within(patienceMs, runStatement<Written>(primary, WRITTEN, []));
  return written && { written, askedAt };
}
