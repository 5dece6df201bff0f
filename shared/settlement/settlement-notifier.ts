import { batchPerTurn } from '../process/batch-per-turn.js';
import type { Logger } from '../process/logger.js';
import type { Queues } from '../queues/enqueue.js';
import { paymentJob } from './payment-job.js';

interface Claimed {
  paymentId: string;
  dueAt: Date;
  /** The id of the paying request, for log lines. */
  requestId?: string;
}

export type NotifySettlement = (claimed: Claimed) => void;

/** Payments per job. Their calls to the facilitator are concurrent. */
export const PAYMENTS_OF_A_JOB = 5;

/**
 * Payments claimed in one turn of the event loop share a job, because a job costs as much as the statements of a payment.
 * The caller does not wait and gets no error: the sweep finds payments whose notification was lost.
 */
export function settlementNotifier(queues: Queues, logger: Logger): NotifySettlement {
  function enqueueJob([first, ...rest]: readonly Claimed[]): void {
    if (first === undefined) return;
    const { paymentId, dueAt, requestId } = first;
    const job = paymentJob({ id: paymentId, stage: 'settle', attempt: 0, dueAt }, requestId);
    const others = rest.map(({ dueAt: _, ...other }) => other);
    const payload = others.length === 0 ? job.payload : { ...job.payload, others };
    queues.enqueue({ ...job, payload }).catch((error: unknown) => {
      logger.warn({ event: 'queue.job_not_added', payment: paymentId, others: others.length, err: error });
    });
  }

  return batchPerTurn((all) => {
    for (let from = 0; from < all.length; from += PAYMENTS_OF_A_JOB)
      enqueueJob(all.slice(from, from + PAYMENTS_OF_A_JOB));
  });
}
