import { expireOneQuarantined, expireOverdueSessions } from '../../shared/settlement/expire-due.js';
import { countCrashes } from '../../shared/upkeep/work-in-flight.js';
import type { WorkerDeps } from '../deps/deps.js';
import { done, type Outcome } from '../deps/outcome.js';

const MOST = 1000;
/** While Postgres commits one batch, it works on the other. */
const AT_ONCE = 2;

/** Expires every overdue session, batch by batch. Batches, of several workers too, skip each other's rows. */
export async function expireSessions(deps: WorkerDeps): Promise<Outcome> {
  for (const { work, crashes, ids } of await countCrashes(deps.db))
    deps.logger.error({ event: 'work.crashed_on', work, deaths: crashes, ids });
  const expired = await Promise.all(Array.from({ length: AT_ONCE }, () => expireBatches(deps)));
  expired.push(await expireApart(deps));
  const count = expired.reduce((sum, each) => sum + each);
  if (count > 0) deps.logger.info({ event: 'sessions.expired', count });
  return done;
}

/** One that fails is followed by one half as long, one that heavy rows cut short by one of twice its rows at most. */
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

/** Those that workers died with, one by one. One that fails ends the job: the next one takes another. */
async function expireApart(deps: WorkerDeps): Promise<number> {
  let all = 0;
  for (;;) {
    const expired = await expireOneQuarantined(deps.db, deps);
    if (expired === undefined) return all;
    all += expired;
  }
}
