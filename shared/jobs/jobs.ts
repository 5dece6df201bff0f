/**
 * Every job there is, in one table. A job is a doorbell: it says "look now" and carries ids at most; the work
 * itself is a row in Postgres. Job name = queue name = handler file in workers/.
 */
export interface JobPayloads {
  /** Also those that were claimed in the same moment. */
  'settle-payment': ClaimedPayment & { others?: readonly ClaimedPayment[] };
  'confirm-payment': { paymentId: string };
  'expire-sessions': Record<string, never>;
  'deliver-webhook': { accountId: string };
}

/** With the id of the request that claimed it, for the log. */
export interface ClaimedPayment {
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
