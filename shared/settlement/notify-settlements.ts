import { batchPerTurn } from '../process/batch-per-turn.js';
import type { Logger } from '../process/logger.js';
import type { Queues } from '../queues/enqueue.js';
import { paymentJob } from './payment-job.js';

interface Claimed {
  paymentId: string;
  dueAt: Date;
  /** Of the request that it came with. */
  requestId?: string;
}

export type NotifySettlement = (claimed: Claimed) => void;

/** Of one job: its calls to the facilitator go out at the same time. */
export const PAYMENTS_OF_A_JOB = 5;

/**
 * Payments that were claimed in one turn of the event loop share a job, which costs as much as a payment's statements.
 * Never fails and keeps nobody waiting: a ring that is lost is made up for by the sweep.
 */
export function settlementNotifier(queues: Queues, logger: Logger): NotifySettlement {
  function ring([first, ...rest]: readonly Claimed[]): void {
    if (first === undefined) return;
    const { paymentId, dueAt, requestId } = first;
    const job = paymentJob({ id: paymentId, stage: 'settle', attempt: 0, dueAt }, requestId);
    const others = rest.map(({ dueAt: _, ...other }) => other);
    const payload = others.length === 0 ? job.payload : { ...job.payload, others };
    queues.enqueue({ ...job, payload }).catch((error: unknown) => {
      logger.warn({ event: 'queue.not_rung', payment: paymentId, others: others.length, err: error });
    });
  }

  return batchPerTurn((all) => {
    for (let from = 0; from < all.length; from += PAYMENTS_OF_A_JOB)
      ring(all.slice(from, from + PAYMENTS_OF_A_JOB));
  });
}
