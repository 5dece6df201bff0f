import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../shared/process/logger.js';
import { expireOneQuarantined, expireOverdueSessions } from '../../shared/settlement/expire-overdue.js';
import { countCrashes } from '../../shared/upkeep/work-in-flight.js';
import type { WorkerDeps } from '../deps/deps.js';
import { done, type JobOutcome } from '../deps/job-outcome.js';

const MOST = 1000;
/** Two batches run at once, so that Postgres works on one while it commits the other. */
const CONCURRENT_BATCHES = 2;

/** Expires all overdue sessions in batches. Concurrent batches, also in other workers, skip each other's locked rows. */
export async function expireSessions(deps: WorkerDeps): Promise<JobOutcome> {
  const { db, logger } = deps;
  for (const { work, crashes, ids } of await countCrashes(db))
    logger.error({ event: 'work.crashed_on', work, deaths: crashes, ids });
  const expired = await expireInBatches((limit) => expireOverdueSessions(db, limit, deps), logger);
  const count = expired + (await expireQuarantined(deps));
  if (count > 0) logger.info({ event: 'sessions.expired', count });
  return done;
}

/**
 * Repeats `expire`, which returns how many rows it has expired, until none is left. A batch that fails is followed by one of half
 * its rows. A batch that large rows or many deliveries have cut short is followed by one of at most twice its rows, alone, and
 * after a pause of twice its length, in which others have Postgres.
 */
export async function expireInBatches(
  expire: (limit: number) => Promise<number>,
  logger: Pick<Logger, 'warn'>,
): Promise<number> {
  const repeat = async (goesOnAlone: boolean): Promise<number> => {
    let all = 0;
    let limit = MOST;
    for (;;) {
      try {
        const began = performance.now();
        const expired = await expire(limit);
        all += expired;
        const isCutShort = expired < limit;
        if (expired === 0 || (isCutShort && !goesOnAlone)) return all;
        if (isCutShort) await sleep(2 * (performance.now() - began));
        limit = Math.min(MOST, expired * 2);
      } catch (error) {
        if (limit === 1) throw error;
        limit = Math.floor(limit / 2);
        logger.warn({ event: 'sessions.not_expired', next: limit, err: error });
      }
    }
  };
  const counts = await Promise.all(
    Array.from({ length: CONCURRENT_BATCHES }, (_, index) => repeat(index === 0)),
  );
  return counts.reduce((sum, each) => sum + each, 0);
}

/** Expires the sessions that workers have crashed on, one by one. A failure ends the job; the next job takes another session. */
async function expireQuarantined(deps: WorkerDeps): Promise<number> {
  let all = 0;
  for (;;) {
    const expired = await expireOneQuarantined(deps.db, deps);
    if (expired === undefined) return all;
    all += expired;
  }
}
