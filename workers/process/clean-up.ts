import { eraseOldSessions } from '../../shared/checkout-sessions/erase.js';
import type { Config } from '../../shared/config/config.js';
import type { Knex } from '../../shared/db/knex.js';
import { withJitter } from '../../shared/process/pause.js';
import type { Closable } from '../../shared/process/shutdown.js';
import { removeDeliveryAnswers, removeExpiredIdempotencyRecords } from '../../shared/upkeep/retention.js';
import { removeOldCrashes } from '../../shared/upkeep/work-in-flight.js';
import { removeOldWorkerPages } from '../../shared/upkeep/worker-pages.js';
import { removePreviousSecrets } from '../../shared/webhooks/secrets.js';
import type { WorkerDeps } from '../deps/deps.js';
import { regularly } from './regularly.js';

/** Every worker process runs the clean-up, at random intervals around this one. */
const INTERVAL_MS = 10 * 60_000;
const BATCH_ROWS = 1000;

export function cleanUpRegularly(deps: WorkerDeps): Closable {
  return regularly(
    (stopped) => cleanUp(deps, () => stopped.aborted),
    () => withJitter(INTERVAL_MS, 0.5),
  );
}

interface CleanUpDeps extends Pick<WorkerDeps, 'db' | 'logger'> {
  config: Pick<Config, 'retentionPersonalDays'>;
}

/** Each batch is a transaction of its own, so that locks are short. */
export async function cleanUp({ db, logger, config }: CleanUpDeps, isClosed: () => boolean): Promise<void> {
  try {
    const { retentionPersonalDays: days } = config;
    const removed = { idempotencyRecords: 0, deliveryAnswers: 0, previousSecrets: 0, personalData: 0 };
    for (const [what, remove] of [
      ['idempotencyRecords', removeExpiredIdempotencyRecords],
      ['deliveryAnswers', removeDeliveryAnswers],
      ['previousSecrets', removePreviousSecrets],
      [
        'personalData',
        (db: Knex, limit: number) => (days === undefined ? 0 : eraseOldSessions(db, days, limit)),
      ],
    ] as const) {
      await removeInBatches(isClosed, async (limit) => {
        const batch = await remove(db, limit);
        removed[what] += batch;
        return batch;
      });
    }
    await removeOldCrashes(db);
    await removeOldWorkerPages(db);
    logger.info({ event: 'clean_up.finished', ...removed });
  } catch (error) {
    logger.error({ event: 'clean_up.failed', err: error });
  }
}

/** Removes batches until nothing is left. After a failed batch, such as a statement timeout, the batch size is halved. */
async function removeInBatches(
  isClosed: () => boolean,
  remove: (limit: number) => Promise<number>,
): Promise<void> {
  let limit = BATCH_ROWS;
  while (!isClosed()) {
    try {
      if ((await remove(limit)) === 0) return;
    } catch (error) {
      if (limit === 1) throw error;
      limit = Math.floor(limit / 2);
    }
  }
}
