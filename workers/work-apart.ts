import { stagesServedBy } from '../shared/queues/payment-job.js';
import { type DuePayment, listDueApart } from '../shared/services/payments/take-work.js';
import type { Closable } from '../shared/shutdown.js';
import type { WorkerDeps } from './deps.js';
import type { Handlers } from './handlers.js';

/**
 * Payments that workers have died with, past the queue: one at a time, and beginning with the one that fewest died with.
 * No number of deaths decides anything of their money; they only come later each time.
 */
export interface WorkApart extends Closable {
  /** Looks for them unless it is still at some. */
  look(): void;
}

const MOST = 20;

export function workApart(deps: WorkerDeps, handlers: Handlers): WorkApart {
  const { db, logger, config } = deps;
  const stages = stagesServedBy(config.workerQueues);
  let working: Promise<void> | undefined;
  let closed = false;

  async function workOne({ id, stage, lostTakes }: DuePayment): Promise<void> {
    const work = stage === 'settle' ? 'settle-payment' : 'confirm-payment';
    logger.error({ event: 'work.crashed_on', work, deaths: lostTakes, ids: [id] });
    await handlers[work]({ paymentId: id });
  }

  async function workAll(): Promise<void> {
    for (const due of await listDueApart(db, stages, MOST)) {
      if (closed) return;
      await workOne(due).catch((error: unknown) => logger.error({ event: 'job.failed', err: error }));
    }
  }

  return {
    look() {
      working ??= workAll()
        .catch((error: unknown) => logger.error({ event: 'sweep.failed', err: error }))
        .finally(() => {
          working = undefined;
        });
    },
    async close() {
      closed = true;
      await working;
    },
  };
}
