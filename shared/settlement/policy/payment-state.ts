import type { SearchPosition } from '../../chains/check/search-position.js';
import type { PaymentStatus } from '../../payments/states.js';
import type { SettleVerdict } from '../../x402/facilitator/settle-verdict.js';

/** The columns of a payment that the policy reads before and after a `/settle` call. */
export interface CalledPayment {
  validUntil: Date;
  /** The end of the worker's lease: another worker may take the payment from then on. */
  dueAt: Date | null;
  settleCalls: number;
  settleUnclear: boolean;
  reportedTransaction: string | null;
  network: string;
  /** The wallet that signed the payload, where it says so. */
  payer: string | null;
}

/** The columns of a payment that the policy reads after a chain check. */
export interface WatchedPayment extends CalledPayment {
  status: PaymentStatus;
  claimedAt: Date;
  failedAt: Date | null;
  /** While the payment is in processing, the code of a refusal that waits for a chain check. */
  failureCode: string | null;
  attempt: number;
  settleAskedAt: Date | null;
  settleEndedAt: Date | null;
  unusedSeenAt: Date | null;
  unreadableSince: Date | null;
  searchPlace: SearchPosition | null;
  usedSeenAt: Date | null;
}

/** The operator's settings that the policy reads, for the payment's network. */
export interface Settings {
  /** The confirmations that the payment's network needs. With 0 the facilitator's clear success is enough. */
  confirmations: number;
  settleTimeoutMs: number;
}

/** `now` follows Postgres' clock, `own` is the machine's. A deadline that must not be early has to be over by both. */
export interface Times {
  now: Date;
  own: Date;
}

/** An unclear outcome is decided by the chain or by a success: a later failure proves nothing. */
export function isOutcomeUnclear({
  settleUnclear,
  reportedTransaction,
}: Pick<CalledPayment, 'settleUnclear' | 'reportedTransaction'>): boolean {
  return settleUnclear || reportedTransaction !== null;
}

/** The facilitator's clear success stays: a later answer does not take it back. */
export function facilitatorReportedSuccess({ settleUnclear, reportedTransaction }: CalledPayment): boolean {
  return reportedTransaction !== null && !settleUnclear;
}

type Failure = Extract<SettleVerdict, { kind: 'rejected' | 'not_processed' }>;

/** The verdict for the log and the metric; the rows decide. A failure after an unclear call of the same payment is unknown. */
export function loggedVerdict(payment: CalledPayment, answer: SettleVerdict): SettleVerdict {
  const isFailure = answer.kind === 'rejected' || answer.kind === 'not_processed';
  return isFailure && isOutcomeUnclear(payment) ? unknownAfterUnclear(answer) : answer;
}

export function unknownAfterUnclear(failure: Failure): Extract<SettleVerdict, { kind: 'unknown' }> {
  const reason = failure.kind === 'rejected' ? failure.reason : failure.why;
  return {
    kind: 'unknown',
    why: `${reason} after an unclear attempt`,
    transaction: undefined,
    mayStillRun: false,
  };
}
