import { expireOverdueSessions } from '../shared/services/checkout-sessions/expire.js';
import type { WorkerDeps } from './deps.js';
import { done, type Outcome } from './outcome.js';

const BATCH = 500;
/** While Postgres writes one batch, this process renders the events of the other. */
const AT_ONCE = 2;

/** Expires every overdue session, a batch a transaction. Batches, of several workers too, skip each other's rows. */
export async function expireSessions(deps: WorkerDeps): Promise<Outcome> {
  const expired = await Promise.all(Array.from({ length: AT_ONCE }, () => expireBatches(deps)));
  const count = expired.reduce((sum, each) => sum + each);
  if (count > 0) deps.logger.info({ event: 'sessions.expired', count });
  return done;
}

async function expireBatches({ config, db, ringDeliveries }: WorkerDeps): Promise<number> {
  const events = { baseUrl: config.baseUrl, ringDeliveries };
  let expired = 0;
  let batch: number;
  do {
    batch = await expireOverdueSessions(db, BATCH, events);
    expired += batch;
  } while (batch === BATCH);
  return expired;
}
