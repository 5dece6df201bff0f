import type { ChainFinding } from '../../../../shared/chains/check/finding.js';
import {
  LONGEST_UNREADABLE_MS,
  LONGEST_WATCH_MS,
  WATCH_INTERVAL_MS,
} from '../../../../shared/settlement/policy/limits.js';
import type { Settings, Times, WatchedPayment } from '../../../../shared/settlement/policy/payment-state.js';
import type { HeldSession, HoldingPayment } from '../../../../shared/settlement/policy/session-after.js';
import type { Setting } from '../setting/setting.js';
import { A_DAY_AGO, dateAt, LONG_AGO, TICK_MS } from '../setting/ticks.js';
import type { Finding, Payload, Payment, Session } from './world.js';

/** Converts the model's values to the policy's inputs. */
export function operatorSettingsOf({ confirmations }: Setting): Settings {
  return { confirmations, settleTimeoutMs: TICK_MS };
}

export function timesOf({ clockAhead }: Setting): Times {
  return { now: dateAt(0), own: dateAt(-clockAhead) };
}

export const TRANSACTION = '0x1';
export const PAYER = '0xa';
export const ANOTHER_PAYER = '0xb';
const A_WEEK_AGO = new Date(dateAt(0).getTime() - LONGEST_WATCH_MS + WATCH_INTERVAL_MS / 2);

export function paymentStateOf(payment: Payment, { end }: Payload): WatchedPayment {
  const { settleCalls, failed, asked } = payment;
  return {
    status: payment.status,
    validUntil: dateAt(end),
    dueAt: dateOrNull(payment.due),
    settleCalls,
    settleUnclear: payment.settleUnclear,
    reportedTransaction: reported(payment),
    claimedAt: dateAt(asked ?? 0),
    failedAt: failed === null ? null : failed === 'lately' ? dateAt(0) : A_WEEK_AGO,
    network: 'eip155:8453',
    payer: PAYER,
    failureCode: payment.isRefusalRecorded ? 'refused' : null,
    // All pauses between checks are one tick or shorter.
    attempt: settleCalls + 1,
    settleAskedAt: dateOrNull(asked),
    // The model forgets a failed payment's calls, which are over.
    settleEndedAt: payment.status === 'failed' ? dateAt(LONG_AGO) : dateOrNull(payment.ended),
    unusedSeenAt: dateOrNull(payment.unusedSeen),
    unreadableSince: isWatchedForLong(payment)
      ? silenceSince(A_DAY_AGO)
      : silenceSince(payment.unreadableSince),
    // A stored search position only makes the next check faster.
    searchPlace: null,
    // The use was seen at the tick before: the newest block of this tick is later.
    usedSeenAt: payment.isUsedSeen ? dateAt(-1) : null,
  };
}

/** After the week of a watch, a use that a check has seen before this one has been left open for a day. */
function isWatchedForLong({ failed, isUsedSeen }: Payment): boolean {
  return failed === 'a week ago' && isUsedSeen;
}

export function holdingOf(payment: Payment): HoldingPayment {
  const { stage, settleCalls, settleUnclear, ended } = payment;
  return {
    stage,
    settleCalls,
    settleUnclear,
    settleEndedAt: dateOrNull(ended),
    reportedTransaction: reported(payment),
  };
}

/** Payments are identified by their index. */
export function heldOf({ status, isOver, paymentId, latePaymentId }: Session): HeldSession {
  return {
    status,
    expiresAt: dateAt(isOver ? 0 : 1),
    paymentId: paymentId === null ? null : String(paymentId),
    latePaymentId: latePaymentId === null ? null : String(latePaymentId),
  };
}

const reason = '';

export function findingOf(finding: Finding): ChainFinding {
  switch (finding.kind) {
    case 'paid': {
      const { kind, confirmations } = finding;
      return {
        kind,
        transaction: TRANSACTION,
        height: 0,
        proofIndex: 0,
        payer: '',
        confirmations,
      };
    }
    case 'unused':
      return { kind: 'unused', chainTime: dateAt(finding.head), exhausted: finding.isExhausted };
    case 'unreadable':
      return {
        kind: 'unreadable',
        reason,
        ...(finding.head !== null && { chainTime: dateAt(finding.head) }),
      };
    case 'spent_otherwise':
    case 'pending':
      return { kind: finding.kind, transaction: TRANSACTION };
    case 'used':
    case 'searching':
      return { kind: finding.kind, reason };
  }
}

function reported({ isReported }: Payment): string | null {
  return isReported ? TRANSACTION : null;
}

function silenceSince(tick: number | null): Date | null {
  if (tick === null || tick > A_DAY_AGO) return dateOrNull(tick);
  return new Date(dateAt(0).getTime() - LONGEST_UNREADABLE_MS);
}

function dateOrNull(tick: number | null): Date | null {
  return tick === null ? null : dateAt(tick);
}
