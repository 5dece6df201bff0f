import type { ChainFinding } from '../../../../shared/chains/check/finding.js';
import { LONGEST_UNREADABLE_MS } from '../../../../shared/settlement/policy/limits.js';
import type { Settings, Times, WatchedPayment } from '../../../../shared/settlement/policy/payment-state.js';
import type { HeldSession, HoldingPayment } from '../../../../shared/settlement/policy/session-after.js';
import { PAYER, TRANSACTION } from '../model/policy-inputs.js';
import { at } from '../setting/ticks.js';
import { type Attempt, indexOfRole, type PayableKind, payableOf, type Row, type World } from './world.js';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** The last call of `/settle` ended before the newest block by more than each rule's margin, so a check that sees that block counts. */
const ASKED = at(-40 * SECOND);
const ENDED = at(-35 * SECOND);
const NEWEST_BLOCK = at(-SECOND);
const GOOD_UNTIL = at(5 * MINUTE);
const OVER_SINCE = at(-10 * MINUTE);

export const SETTINGS: Settings = { confirmations: 0, settleTimeoutMs: 5 * SECOND };

export type Clocks = 'both are right' | "Postgres' is ahead" | "the process' is ahead";
export const CLOCKS: readonly Clocks[] = ['both are right', "Postgres' is ahead", "the process' is ahead"];

export function timesBy(clocks: Clocks): Times {
  const ahead = at(60 * MINUTE);
  return {
    now: clocks === "Postgres' is ahead" ? ahead : at(0),
    own: clocks === "the process' is ahead" ? ahead : at(0),
  };
}

export function stateOf({ fact, row }: Attempt, isSilentForADay = false): WatchedPayment {
  if (row === null) throw new Error('Postgres has no such payment');
  return {
    status: row.status,
    validUntil: fact.isOver ? OVER_SINCE : GOOD_UNTIL,
    dueAt: at(MINUTE),
    settleCalls: row.calls,
    settleUnclear: row.isUnclear,
    reportedTransaction: row.isReported ? TRANSACTION : null,
    network: 'eip155:8453',
    payer: PAYER,
    claimedAt: at(-MINUTE),
    failedAt: row.status === 'failed' ? at(-MINUTE) : null,
    failureCode: row.isRefused ? 'refused' : null,
    attempt: row.calls + 1,
    settleAskedAt: row.calls > 0 ? ASKED : null,
    settleEndedAt: row.hasEnded ? ENDED : null,
    unusedSeenAt: null,
    unreadableSince: isSilentForADay ? at(-LONGEST_UNREADABLE_MS) : null,
    searchPlace: null,
    usedSeenAt: row.isUsedSeen ? at(-MINUTE) : null,
  };
}

export function holdingOf({ stage, calls, hasEnded, isUnclear, isReported }: Row): HoldingPayment {
  return {
    stage,
    settleCalls: calls,
    settleEndedAt: hasEnded ? ENDED : null,
    settleUnclear: isUnclear,
    reportedTransaction: isReported ? TRANSACTION : null,
  };
}

/** Payments are named by their index. */
function idOf(world: World, of: PayableKind, role: Row['role']): string | null {
  const index = indexOfRole(world, of, role);
  return index === undefined ? null : String(index);
}

export function heldOf(world: World, of: PayableKind): HeldSession {
  const { status, isOver } = payableOf(world, of);
  return {
    status,
    expiresAt: at(isOver ? 0 : 1),
    paymentId: idOf(world, of, 'holds'),
    latePaymentId: idOf(world, of, 'late'),
  };
}

export function unused(exhausted: boolean): ChainFinding {
  return { kind: 'unused', chainTime: NEWEST_BLOCK, exhausted };
}

export const PAID: ChainFinding = {
  kind: 'paid',
  transaction: TRANSACTION,
  height: 0,
  proofIndex: 0,
  payer: PAYER,
  confirmations: 1,
};
