import { expireOverdueSessions } from '../shared/services/session-expiry.js';
import type { WorkerDeps } from './deps.js';
import { done, type Outcome } from './outcome.js';

const BATCH = 500;

/** Expires every overdue session, a batch a transaction. Batches of several workers skip each other's rows. */
export async function expireSessions({ config, db, logger, ringDeliveries }: WorkerDeps): Promise<Outcome> {
  const events = { baseUrl: config.baseUrl, ringDeliveries };
  let expired = 0;
  let batch: number;
  do {
    batch = await expireOverdueSessions(db, BATCH, events);
    expired += batch;
  } while (batch === BATCH);
  if (expired > 0) logger.info({ event: 'sessions.expired', count: expired });
  return done;
}
