import { eraseOldSessions } from '../../shared/checkout-sessions/erase.js';
import type { Config } from '../../shared/config/config.js';
import type { Knex } from '../../shared/db/knex.js';
import type { Closable } from '../../shared/process/shutdown.js';
import { removeDeliveryAnswers, removeExpiredIdempotencyRecords } from '../../shared/upkeep/retention.js';
import { forgetCrashes } from '../../shared/upkeep/work-in-flight.js';
import { forgetWorkers } from '../../shared/upkeep/worker-pages.js';
import { removePreviousSecrets } from '../../shared/webhooks/roll-secret.js';
import type { WorkerDeps } from '../deps/deps.js';

/** A timer in every worker process, like the sweep: nothing that it does is due at any one moment. */
const INTERVAL_MS = 10 * 60_000;
const MOST = 1000;

export function cleanUpRegularly(deps: WorkerDeps): Closable {
  let closed = false;
  let cleaning: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout;
  const schedule = (): void => {
    timer = setTimeout(
      () => {
        cleaning = cleanUp(deps, () => closed).finally(() => {
          if (!closed) schedule();
        });
      },
      INTERVAL_MS * (0.5 + Math.random()),
    );
    timer.unref();
  };
  schedule();
  return {
    async close() {
      closed = true;
      clearTimeout(timer);
      await cleaning;
    },
  };
}

export interface CleanUpDeps extends Pick<WorkerDeps, 'db' | 'logger'> {
  config: Pick<Config, 'retentionPersonalDays'>;
}

/** Batch by batch, each on its own, so that no lock is held for long. */
export async function cleanUp({ db, logger, config }: CleanUpDeps, isOver: () => boolean): Promise<void> {
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
      await inBatches(isOver, async (limit) => {
        const batch = await remove(db, limit);
        removed[what] += batch;
        return batch;
      });
    }
    await forgetCrashes(db);
    await forgetWorkers(db);
    logger.info({ event: 'clean_up.finished', ...removed });
  } catch (error) {
    logger.error({ event: 'clean_up.failed', err: error });
  }
}

/** Until nothing is left. A batch that fails, as one does that takes too long, is followed by one half as long. */
async function inBatches(isOver: () => boolean, remove: (limit: number) => Promise<number>): Promise<void> {
  let limit = MOST;
  while (!isOver()) {
    try {
      if ((await remove(limit)) === 0) return;
    } catch (error) {
      if (limit === 1) throw error;
      limit = Math.floor(limit / 2);
    }
  }
}
