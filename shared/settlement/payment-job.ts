import type { JobName } from '../jobs/jobs.js';
import { PAYMENT_STAGES, type PaymentStage } from '../payments/states.js';
import { nowMs } from '../process/clock.js';
import type { JobRequest } from '../queues/enqueue.js';

const JOB_OF_STAGE = {
  settle: 'settle-payment',
  confirm: 'confirm-payment',
  watch: 'confirm-payment',
} as const satisfies Record<PaymentStage, JobName>;

/** The payment stages that workers of these queues can process. */
export function stagesServedBy(queues: readonly JobName[]): PaymentStage[] {
  return PAYMENT_STAGES.filter((stage) => queues.includes(JOB_OF_STAGE[stage]));
}

interface DueWork {
  id: string;
  stage: PaymentStage;
  attempt: number;
  dueAt: Date;
}

/** The job for the payment's due work. Adding it again for the same due time has no effect. */
export function paymentJob(
  due: DueWork,
  requestId?: string,
): JobRequest<'settle-payment'> | JobRequest<'confirm-payment'> {
  return {
    name: JOB_OF_STAGE[due.stage],
    payload: { paymentId: due.id, ...(requestId !== undefined && { requestId }) },
    id: `${due.id}-${due.attempt}-${due.dueAt.getTime()}`,
    delayMs: Math.max(0, due.dueAt.getTime() - nowMs()),
  };
}
