import type { ChainFinding } from '../../../../shared/chains/finding.js';
import type { SessionStatus } from '../../../../shared/payables/states.js';
import type { PaymentStage, PaymentStatus } from '../../../../shared/payments/states.js';

/**
 * The world that the policy is played in: one session, the payments that claim it, the payloads that they carry, a
 * facilitator and a chain. Each time is a number of ticks from now, so that worlds that differ in their date alone are
 * one. Nothing in it is changed: each step makes another.
 */
export interface World {
  /** The time of the newest block; it falls behind on a chain that stands still. */
  readonly head: number;
  readonly wasReorganised: boolean;
  readonly session: Session;
  readonly payloads: readonly Payload[];
  readonly payments: readonly Payment[];
}

export interface Session {
  readonly status: SessionStatus;
  /** `expires_at` has come. */
  readonly isOver: boolean;
  readonly paymentId: number | null;
  readonly latePaymentId: number | null;
}

/** A signed authorization, as the facilitator and the chain know it. */
export interface Payload {
  /** The time of the first block that does not take it any more. */
  readonly end: number;
  /** A transaction with it is out: it gets into a block, or never does. */
  readonly isSent: boolean;
  readonly use: Use | null;
  /** The call that may be in flight at the facilitator, whether or not a worker waits for its answer. */
  readonly call: Call | null;
  /** The time at which the last call has surely ended. */
  readonly callOver: number | null;
  /** Some call was not surely turned away. */
  readonly isOutcomeUnclear: boolean;
}

export interface Use {
  readonly by: 'payment' | 'owner';
  readonly block: number;
}

export interface Call {
  readonly since: number;
  /** This very call has sent a transaction. */
  readonly hasSent: boolean;
}

/** A payment's row, and the workers that have taken it. */
export interface Payment {
  readonly payload: number;
  readonly status: PaymentStatus;
  readonly stage: PaymentStage | null;
  readonly due: number | null;
  readonly failed: 'lately' | 'a week ago' | null;
  readonly isSurplus: boolean;
  readonly isReleased: boolean;
  readonly unreadableSince: number | null;
  /** The worker that has the row. */
  readonly hand: Caller | Looker | null;
  /** A worker that had the row before, and may still call or answer. */
  readonly lost: Caller | null;
  readonly settleCalls: number;
  readonly settleUnclear: boolean;
  readonly isReported: boolean;
  readonly isUsedSeen: boolean;
  readonly unusedSeen: number | null;
  readonly asked: number | null;
  readonly ended: number | null;
  readonly seen: Seen;
}

/** A worker decides by the columns of the row when it was taken. */
interface Taken {
  readonly since: number;
  readonly settleUnclear: boolean;
  readonly isReported: boolean;
}

export interface Caller extends Taken {
  readonly kind: 'stalled' | 'calling';
  /** Some call before its own was not surely turned away. */
  readonly wasOutcomeUnclear: boolean;
}

export interface Looker extends Taken {
  readonly kind: 'looking';
  readonly finding: Finding;
  readonly unreadableSince: number | null;
  /** The same, as the model counts it. */
  readonly silentSince: number | null;
}

/** The findings of the looks that counted. The model keeps them apart from the columns that the policy writes. */
export interface Seen {
  readonly silentSince: number | null;
  readonly unusedSince: number | null;
  readonly isUsed: boolean;
}

export type Finding =
  | { readonly kind: 'paid'; readonly confirmations: number }
  | { readonly kind: 'unused'; readonly head: number; readonly isExhausted: boolean }
  | { readonly kind: 'unreadable'; readonly head: number | null }
  | { readonly kind: Exclude<ChainFinding['kind'], 'paid' | 'unused' | 'unreadable'> };

export const NOTHING_SEEN: Seen = { silentSince: null, unusedSince: null, isUsed: false };

export function freshPayload(end: number): Payload {
  return { end, isSent: false, use: null, call: null, callOver: null, isOutcomeUnclear: false };
}

export function claimedPayment(payload: number): Payment {
  return {
    payload,
    status: 'processing',
    stage: 'settle',
    due: 0,
    failed: null,
    isSurplus: false,
    isReleased: false,
    unreadableSince: null,
    hand: null,
    lost: null,
    settleCalls: 0,
    settleUnclear: false,
    isReported: false,
    isUsedSeen: false,
    unusedSeen: null,
    asked: null,
    ended: null,
    seen: NOTHING_SEEN,
  };
}

export function entry<T>(list: readonly T[], index: number): T {
  const one = list[index];
  if (one === undefined) throw new RangeError(`there is no number ${index} of ${list.length}`);
  return one;
}

export function withPayment(world: World, id: number, payment: Payment): World {
  return { ...world, payments: replaced(world.payments, id, payment) };
}

export function withPayload(world: World, index: number, payload: Payload): World {
  return { ...world, payloads: replaced(world.payloads, index, payload) };
}

function replaced<T>(list: readonly T[], index: number, one: T): readonly T[] {
  return list.map((other, at) => (at === index ? one : other));
}

/** The time at which the payment's last call has surely ended, by its row. */
export function settleEnd({ status, asked, ended }: Payment): number | null {
  if (status !== 'processing') return null;
  return ended ?? (asked === null ? null : asked + CALL_TICKS);
}

/** A call without an answer may go on for its timeout of 30 s, and 30 s more. */
export const CALL_TICKS = 2;

/** The payload's money has moved, or can still. */
export function canMove({ head }: World, { use, isSent, call, end }: Payload): boolean {
  if (use !== null) return use.by === 'payment';
  return head < end && (isSent || call !== null);
}
