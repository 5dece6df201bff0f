import type { ChainFinding } from '../../../../shared/chains/check/finding.js';
import type { PayableStatus } from '../../../../shared/payables/states.js';
import type { PaymentStage, PaymentStatus } from '../../../../shared/payments/states.js';
import type { Setting } from '../setting/setting.js';

/**
 * The model's state: one session, the payments that claim it, their payloads, a facilitator and a chain. Times are
 * ticks relative to now, so that worlds that differ only in their date are equal. A world is immutable: each step
 * returns another.
 */
export interface World {
  /** The time of the newest block; it falls behind while the chain is halted. */
  readonly head: number;
  readonly wasReorganised: boolean;
  readonly session: Session;
  readonly payloads: readonly Payload[];
  readonly payments: readonly Payment[];
}

export interface Session {
  readonly status: PayableStatus;
  /** `expires_at` has passed. */
  readonly isOver: boolean;
  readonly paymentId: number | null;
  readonly latePaymentId: number | null;
}

/** A buyer's signed payload, as the facilitator and the chain know it. */
export interface Payload {
  /** The time of the first block that does not accept it any more. */
  readonly end: number;
  /** A transaction with it has been sent: it gets into a block, or never does. */
  readonly isSent: boolean;
  readonly use: Use | null;
  /** The facilitator's call in flight, whether or not the caller still waits. */
  readonly call: Call | null;
  /** When the last call has certainly ended. */
  readonly callOver: number | null;
  /** Some call was not certainly refused without an effect. */
  readonly isOutcomeUnclear: boolean;
  /** The last call was refused, and the outcome of no call before it was unclear. */
  readonly isRefused: boolean;
}

interface Use {
  readonly by: 'payment' | 'owner';
  readonly block: number;
}

export interface Call {
  readonly since: number;
  /** This call has sent a transaction. */
  readonly hasSent: boolean;
}

/** A payment's row, and the worker that has taken it. */
export interface Payment {
  readonly payload: number;
  readonly status: PaymentStatus;
  readonly stage: PaymentStage | null;
  readonly due: number | null;
  readonly failed: 'lately' | 'a week ago' | null;
  readonly isSurplus: boolean;
  readonly isReleased: boolean;
  readonly unreadableSince: number | null;
  /** The worker that has taken the row. */
  readonly worker: Caller | Checker | null;
  /** A former worker of the row that may still continue. */
  readonly lost: Caller | null;
  readonly settleCalls: number;
  readonly settleUnclear: boolean;
  readonly isReported: boolean;
  readonly isRefusalRecorded: boolean;
  readonly isUsedSeen: boolean;
  readonly unusedSeen: number | null;
  readonly asked: number | null;
  readonly ended: number | null;
  readonly seen: Seen;
}

/** A worker decides by the row as it was when it took it. */
interface Taken {
  readonly since: number;
  readonly settleUnclear: boolean;
  readonly isReported: boolean;
}

export interface Caller extends Taken {
  readonly kind: 'stalled' | 'calling';
  /** Some call before this worker's own was not certainly refused. */
  readonly wasOutcomeUnclear: boolean;
}

export interface Checker extends Taken {
  readonly kind: 'checking';
  readonly finding: Finding;
  readonly unreadableSince: number | null;
  /** The model's own record of the same. */
  readonly silentSince: number | null;
}

/** The findings of the checks that count, recorded by the model independently of the row. */
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
  return {
    end,
    isSent: false,
    use: null,
    call: null,
    callOver: null,
    isOutcomeUnclear: false,
    isRefused: false,
  };
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
    worker: null,
    lost: null,
    settleCalls: 0,
    settleUnclear: false,
    isReported: false,
    isRefusalRecorded: false,
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
  return list.with(index, one);
}

/** When the payment's last call has certainly ended, according to its row. */
export function settleEnd({ status, asked, ended }: Payment): number | null {
  if (status !== 'processing') return null;
  return ended ?? (asked === null ? null : asked + CALL_TICKS);
}

/** A call that was given up or cut off may continue this long: the timeout of 30 s, and 30 s more. */
export const CALL_TICKS = 2;

/** True when the payload's money has moved, or can still move. */
export function canMove({ head }: World, { use, isSent, call, end }: Payload): boolean {
  if (use !== null) return use.by === 'payment';
  return head < end && (isSent || call !== null);
}

/** True also when another block may take the place of the newest, and leave the money to move. */
export function canMoveAnew(world: World, payload: Payload, { reorganises, clockAhead }: Setting): boolean {
  if (canMove(world, payload)) return true;
  if (!reorganises || world.wasReorganised || world.head !== -clockAhead) return false;
  const use = payload.use?.block === world.head ? null : payload.use;
  return canMove({ ...world, head: world.head - 1 }, { ...payload, use });
}
