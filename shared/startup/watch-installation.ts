import { randomUUID } from 'node:crypto';
import { type CommitMemory, DOUBT_MS, type Loss, openCommitMemory } from '../db/commit-memory.js';
import { readServerOf } from '../db/follow-clock.js';
import type { Knex } from '../db/knex.js';
import type { Breaker } from '../limits/breaker.js';
import { certainNow, nowMs } from '../process/clock.js';
import type { Logger } from '../process/logger.js';
import type { Closable } from '../process/shutdown.js';
import { waitAtMost } from '../process/timeout.js';
import type { RedisClient } from '../queues/connection.js';
import { type OutsideMemory, openOutsideMemory } from '../queues/outside-memory.js';
import { type Installation, noteDoubt, noteTimeline, readInstallation } from '../upkeep/installation.js';

/**
 * Shares what one process knows of Postgres with all others: that commits may be lost, in the database's own row; how far
 * Postgres had written, in Redis, for a process that starts after the failover. Also finds other databases on this Redis.
 */
export interface InstallationWatch extends Closable {
  start(): void;
  /** The other databases whose processes use this Redis. */
  others(): readonly string[];
}

interface WatchOptions {
  db: Knex;
  commits: CommitMemory;
  redis: RedisClient | undefined;
  breaker: Breaker | undefined;
  logger: Logger;
}

const INTERVAL_MS = 5000;
/** The pause after a round that failed. */
const RETRY_MS = 1000;
/** How many rounds fail because Redis is not connected yet. Afterwards the database's row alone decides. */
const MAX_WAITS = 5;
const LEAVE_TIMEOUT_MS = 500;

/**
 * Losses within this time are one failover and one log line: a process that still reaches both servers reads them in turns.
 */
const SAME_LOSS_MS = 60_000;

const HINTS: Record<Loss['kind'], string> = {
  lost_commits:
    'Postgres is behind what it had written: a standby was promoted without the last commits, or an older copy was restored. What was committed between `from` and `to` may be gone. Compare the payments of that time with the chains.',
  failed_over:
    'Another Postgres took over. It has everything up to `from`; what was committed between `from` and `to` may be gone, if its standby was asynchronous. Compare the payments of that time with the chains.',
};

export function openLoggedCommitMemory(logger: Logger): CommitMemory {
  let loggedAt = Number.NEGATIVE_INFINITY;
  return openCommitMemory(({ kind, from, to, known, found }) => {
    if (kind === 'failed_over' && performance.now() - loggedAt < SAME_LOSS_MS) return;
    loggedAt = performance.now();
    const line = { event: `database.${kind}`, from, to, known, found, hint: HINTS[kind] };
    if (kind === 'lost_commits') logger.error(line);
    else logger.warn(line);
  });
}

export function openInstallationWatch(options: WatchOptions): InstallationWatch {
  const rounds = createRounds(options);
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  const run = async (): Promise<void> => {
    // Postgres or Redis does not answer, which is reported elsewhere.
    const succeeded = await rounds.next().then(
      () => true,
      () => false,
    );
    if (isClosed) return;
    timer = setTimeout(start, succeeded ? INTERVAL_MS : RETRY_MS);
    timer.unref();
  };
  const start = (): void => {
    running = run();
  };
  return {
    start,
    others: rounds.others,
    async close() {
      isClosed = true;
      clearTimeout(timer);
      if (running === undefined) return;
      await running;
      await waitAtMost(LEAVE_TIMEOUT_MS, rounds.leave()).catch(() => undefined); // The entry expires.
    },
  };
}

interface Rounds {
  next(): Promise<void>;
  others(): readonly string[];
  leave(): Promise<void>;
}

function createRounds({ db, commits, redis, breaker, logger }: WatchOptions): Rounds {
  const process = randomUUID();
  let outside: OutsideMemory | undefined;
  let hasRecalled = false;
  let waits = 0;
  /** The losses that the row, or Redis, has been told of. */
  let lossesInRow = 0;
  let lossesInRedis = 0;
  let others: readonly string[] = [];

  /** Undefined while Redis does not answer, or where there is none. */
  async function ask<T>(call: (memory: OutsideMemory) => Promise<T>): Promise<T | undefined> {
    const memory = outside;
    if (memory === undefined || breaker === undefined) return undefined;
    return await breaker.run(() => call(memory)).catch(() => undefined);
  }

  /** Compares this process's memory with an earlier process's, and with the database's own row. */
  async function recall(row: Installation): Promise<void> {
    if (!hasRecalled) {
      const kept = await ask(async (memory) => ({ found: await memory.readPosition() }));
      if (kept?.found !== undefined) commits.recall(kept.found.position, kept.found.readAt);
      hasRecalled = kept !== undefined;
      await readServerOf(db);
    }
    if (row.doubtedMsAgo !== null) commits.doubt(DOUBT_MS - Math.max(0, certainAgeMs(row.doubtedMsAgo)));
    const latest = commits.latest();
    if (latest === undefined || row.timeline === null || row.timeline >= latest.position.timeline) return;
    commits.doubt(DOUBT_MS);
    // Redis knows more than the row. It is not connected yet when a process starts.
    if (redis !== undefined && !hasRecalled && waits++ < MAX_WAITS)
      throw new Error('no answer from Redis yet');
    if (commits.losses() === 0) commits.suspect(latest.position);
  }

  async function share(row: Installation): Promise<void> {
    const latest = commits.latest();
    if (latest === undefined) return;
    const { position, at } = latest;
    const losses = commits.losses();
    if (losses > lossesInRow) await noteDoubt(db, position.timeline);
    else if (row.timeline !== position.timeline) await noteTimeline(db, position.timeline);
    lossesInRow = losses;
    // The position in Redis may tell of a loss that this process has not seen.
    if (!hasRecalled) return;
    const has = losses > lossesInRedis ? 'gone_back' : 'advanced';
    const isWritten = await ask((memory) => memory.writePosition(position, at, has).then(() => true));
    if (isWritten) lossesInRedis = losses;
  }

  async function findOthers(owner: string): Promise<void> {
    const present = await ask((memory) => memory.enter());
    if (present === undefined) return;
    const found = present.filter((name) => !isSame(name, owner)).sort();
    if (found.join() !== others.join() && found.length > 0)
      logger.warn({ event: 'redis.shared', own: owner, others: found, hint: SHARED_HINT });
    others = found;
  }

  return {
    async next() {
      const row = await readInstallation(db);
      if (row === undefined) return;
      const database = `${row.database}@${commits.latest()?.position.server ?? ''}`;
      outside = redis && openOutsideMemory(redis, { id: row.id, database, process });
      await recall(row);
      await share(row);
      await findOthers(`${row.id} ${database}`);
    },
    others: () => others,
    async leave() {
      if (redis?.status === 'ready') await outside?.leave();
    },
  };
}

/** A process that does not know its Postgres server, or not yet, names none: an absent server equals every other. */
function isSame(one: string, other: string): boolean {
  const [[database, server], [otherDatabase, otherServer]] = [one.split('@'), other.split('@')];
  return database === otherDatabase && (server === otherServer || server === '' || otherServer === '');
}

const SHARED_HINT =
  'Processes of another database use this Redis. Their jobs have names of their own, but limits per address and the limits of the facilitator are counted together. Give each deployment its own Redis, or its own database number in REDIS_URL.';

/** The age of a doubt. While the clocks disagree, the smaller age counts, so that the doubt lasts long enough. */
function certainAgeMs(byPostgresMs: number): number {
  return byPostgresMs - (nowMs() - certainNow().getTime());
}
