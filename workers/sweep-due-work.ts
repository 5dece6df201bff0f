import { nowMs } from '../shared/clock.js';
import { hasOverdueSessions } from '../shared/services/checkout-sessions.js';
import type { Closable } from '../shared/shutdown.js';
import type { WorkerDeps } from './deps.js';
import type { Handlers } from './handlers.js';

/**
 * Rings for rows whose time has passed and whose job was never rung, or was lost. A plain timer in every worker
 * process, never itself a job: an emptied Redis takes schedules with it. When the queue store does not answer,
 * the handlers are called directly.
 */
const INTERVAL_MS = 1000;

export function sweepDueWork(deps: WorkerDeps, handlers: Handlers): Closable {
  let timer: NodeJS.Timeout;
  let running: Promise<void> = Promise.resolve();
  let closed = false;
  const schedule = (): void => {
    // Jitter keeps many workers from asking at the same instant.
    timer = setTimeout(
      () => {
        running = sweep(deps, handlers).finally(() => {
          if (!closed) schedule();
        });
      },
      INTERVAL_MS * (0.75 + Math.random() / 2),
    );
  };
  schedule();
  return {
    async close() {
      closed = true;
      clearTimeout(timer);
      await running;
    },
  };
}

async function sweep({ config, db, logger, queues }: WorkerDeps, handlers: Handlers): Promise<void> {
  try {
    if (config.workerQueues.includes('expire-sessions') && (await hasOverdueSessions(db))) {
      const id = `expire-sessions-${Math.floor(nowMs() / INTERVAL_MS)}`;
      await queues.enqueue({ name: 'expire-sessions', payload: {}, id }).catch(async (error: unknown) => {
        logger.warn({ event: 'sweep.without_queue', err: error });
        await handlers['expire-sessions']({});
      });
    }
  } catch (error) {
    logger.error({ event: 'sweep.failed', err: error });
  }
}
