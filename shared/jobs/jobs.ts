/**
 * All jobs. A job notifies a worker of due work and carries ids only; the work itself is a row in Postgres. A job's name
 * is also the name of its queue and of its handler's file in workers/jobs/.
 */
export interface JobPayloads {
  /** `others` were claimed in the same turn of the event loop. */
  'settle-payment': PaymentToSettle & { others?: readonly PaymentToSettle[] };
  'confirm-payment': { paymentId: string };
  'expire-sessions': Record<string, never>;
  'deliver-webhook': { accountId: string };
}

/** `requestId` is logged. */
export interface PaymentToSettle {
  paymentId: string;
  requestId?: string;
}

export type JobName = keyof JobPayloads;

export const JOB_NAMES: readonly JobName[] = [
  'settle-payment',
  'confirm-payment',
  'expire-sessions',
  'deliver-webhook',
];

/** Work that is overdue by more is done without its job: the queue may accept jobs and hand none out. */
export const LATE_MS = 15_000;
