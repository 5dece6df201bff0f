import { nowMs } from '../clock.js';
import type { PaymentStage } from '../domain/payment.js';
import type { JobRequest } from './enqueue.js';

interface DueWork {
  id: string;
  stage: PaymentStage;
  attempt: number;
  dueAt: Date;
}

/** The job that looks at a payment when its work is due; ringing again for the same due time does nothing. */
export function paymentJob(due: DueWork): JobRequest<'settle-payment'> | JobRequest<'confirm-payment'> {
  return {
    name: due.stage === 'settle' ? 'settle-payment' : 'confirm-payment',
    payload: { paymentId: due.id },
    id: `${due.id}-${due.attempt}-${due.dueAt.getTime()}`,
    delayMs: Math.max(0, due.dueAt.getTime() - nowMs()),
  };
}
