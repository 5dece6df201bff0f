import { expireOneQuarantined, expireOverdueSessions } from '../../shared/settlement/expire-due.js';
import { countCrashes } from '../../shared/upkeep/work-in-flight.js';
import type { WorkerDeps } from '../deps/deps.js';
import { done, type Outcome } from '../deps/outcome.js';

const MOST = 1000;
/** Two at once, so that Postgres works on one batch while it commits the other. */
const CONCURRENT_BATCHES = 2;

/** Expires all overdue sessions in batches. Concurrent batches, also those of other workers, skip each other's locked rows. */
export async function expireSessions(deps: WorkerDeps): Promise<Outcome> {
  for (const { work, crashes, ids } of await countCrashes(deps.db))
    deps.logger.error({ event: 'work.crashed_on', work, deaths: crashes, ids });
  const expired = await Promise.all(Array.from({ length: CONCURRENT_BATCHES }, () => expireBatches(deps)));
  expired.push(await expireQuarantined(deps));
  const count = expired.reduce((sum, each) => sum + each);
  if (count > 0) deps.logger.info({ event: 'sessions.expired', count });
  return done;
}

/** A batch that fails is followed by one of half its rows; a batch that large rows cut short by one of at most twice its rows. */
async function expireBatches(deps: WorkerDeps): Promise<number> {
  let all = 0;
  let limit = MOST;
  for (;;) {
    try {
      const expired = await expireOverdueSessions(deps.db, limit, deps);
      if (expired === 0) return all;
      all += expired;
      limit = Math.min(MOST, expired * 2);
    } catch (error) {
      if (limit === 1) throw error;
      limit = Math.floor(limit / 2);
      deps.logger.warn({ event: 'sessions.not_expired', next: limit, err: error });
    }
  }
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
