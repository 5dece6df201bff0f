import type { ChainFinding } from '../../chains/finding.js';
import type { SearchPlace } from '../../chains/search-place.js';
import type { Observation, PaymentStatus } from '../../payments/states.js';

/** What the rules need to know of a payment: a part of its row. */
export interface CalledPayment {
  validUntil: Date;
  /** When another worker may take it from who has it now. */
  dueAt: Date | null;
  settleCalls: number;
  settleUnclear: boolean;
  reportedTransaction: string | null;
}

/** For a look at its chain they need more. */
export interface WatchedPayment extends CalledPayment {
  status: PaymentStatus;
  claimedAt: Date;
  failedAt: Date | null;
  failureCode: string | null;
  attempt: number;
  settleAskedAt: Date | null;
  settleEndedAt: Date | null;
  unusedSeenAt: Date | null;
  unreadableSince: Date | null;
  searchPlace: SearchPlace | null;
  usedSeenAt: Date | null;
}

/** What the operator has set. */
export interface Rules {
  /** For this payment's network; 0 takes the facilitator's clear word. */
  confirmations: number;
  settleTimeoutMs: number;
}

/** `now` follows Postgres' clock, `own` is the machine's. What must not be called over too soon is over by both. */
export interface Times {
  now: Date;
  own: Date;
}

/** What is kept in the row for the next step, whatever comes of this one. */
export interface Learnt {
  settleEndedAt?: Date;
  settleUnclear?: boolean;
  reportedTransaction?: string;
  unusedSeenAt?: Date | null;
  unreadableSince?: Date | null;
  searchPlace?: SearchPlace | null;
  usedSeenAt?: Date | null;
}

/** Proof that the money has moved. `proofIndex` is undefined on the facilitator's or a person's word. */
export interface Proof {
  transaction: string;
  payer: string | undefined;
  proofIndex: number | undefined;
}

/** What to do with a payment that its taker has in hand, and what its history says of why. */
export type Decision = { said: Omit<Observation, 'at'> } & (
  | { kind: 'succeed'; proof: Proof }
  /** `released`: it surely never reached the facilitator, and its payload may claim this session again. */
  | { kind: 'fail'; code: string; released: boolean; watchAt: Date | undefined }
  /** `notSent`: what it was taken for was no call. */
  | { kind: 'settle_again'; at: Date; learnt: Learnt; notSent?: true }
  | { kind: 'look_again'; at: Date; learnt: Learnt }
  | { kind: 'stop_watching' }
);

export type Finding<Kind extends ChainFinding['kind']> = Extract<ChainFinding, { kind: Kind }>;

/** From then on only the chain, or a success, decides: a failure proves nothing any more. */
export function isInDoubt({ settleUnclear, reportedTransaction }: CalledPayment): boolean {
  return settleUnclear || reportedTransaction !== null;
}

/** The facilitator has clearly said that it settled; later words of its do not take that back. */
export function saidSettled({ settleUnclear, reportedTransaction }: CalledPayment): boolean {
  return reportedTransaction !== null && !settleUnclear;
}
