import type { Payment } from '../shared/models/payment.js';
import { paymentJob } from '../shared/queues/payment-job.js';
import type { NextWork } from '../shared/services/payments/take-work.js';
import type { WorkerDeps } from './deps.js';

/** Rings for what was just made due; when the queue store is away, the sweep finds the row. */
export async function ring({ queues, logger }: WorkerDeps, payment: Payment, next: NextWork): Promise<void> {
  try {
    await queues.enqueue(paymentJob({ id: payment.id, attempt: payment.attempt, ...next }));
  } catch (error) {
    logger.warn({ event: 'queue.not_rung', payment: payment.id, err: error });
  }
}
