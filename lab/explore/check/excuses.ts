import type { Payment } from '../../../shared/payments/model.js';
import { OUTCOME_UNKNOWN } from '../../../shared/payments/states.js';
import {
  BETWEEN_CHECKS_MS,
  LONGEST_UNREADABLE_MS,
  LONGEST_WAIT_MS,
} from '../../../shared/settlement/policy/limits.js';
import type { Call, ChainCheck, FailedPayment, Journal, Run } from '../world/journal.js';
import { nonceOf } from '../world/world.js';

/**
 * When a payment may be failed although its money has moved, or moves later. There are four excuses: a clear refusal
 * by the facilitator while no earlier outcome was unclear; a doubtful one, when a later check found it unused; and, when
 * the failure says that the outcome is unknown, a chain that was silent for a day after the authorization's end, and two
 * checks of an authorization that ends far ahead. Operators in the explorer always tell the truth.
 */
export function excuseOf(journal: Journal, payment: Payment): string | undefined {
  const failing = journal.failedPayments.find(({ paymentId }) => paymentId === payment.id);
  if (failing === undefined || failing.by === 'operator') return undefined;
  const { by: run } = failing;
  if (run.paymentId !== payment.id) return undefined;
  if (run.call !== undefined) return excuseOfAnswer(journal, run.call, failing);
  const last = journal.checks.filter((one) => one.run === run).at(-1);
  if (last === undefined) return undefined;
  return failing.code === OUTCOME_UNKNOWN
    ? excuseOfUnknown(journal, payment, last)
    : excuseOfDoubtful(journal, payment, last);
}

function excuseOfAnswer({ calls }: Journal, call: Call, { atMs }: FailedPayment): string | undefined {
  const isOutcomeUnclear = calls.some(
    (other) =>
      other !== call &&
      other.nonce === call.nonce &&
      other.startedMs <= atMs &&
      other.meaning !== 'turned away',
  );
  return !isOutcomeUnclear && call.meaning === 'refused' ? 'the facilitator refused it clearly' : undefined;
}

function excuseOfDoubtful(journal: Journal, payment: Payment, { finding }: ChainCheck): string | undefined {
  const calls = callsOf(journal, payment).filter(({ meaning }) => meaning !== 'turned away');
  const isRefused = calls.length === 1 && calls[0]?.meaning === 'refused doubtfully';
  const isUnused = finding.kind === 'unused' && finding.chainTime.getTime() > (calls[0]?.overMs ?? 0);
  return isRefused && isUnused ? 'the facilitator refused it, and a later check found it unused' : undefined;
}

function excuseOfUnknown(journal: Journal, payment: Payment, last: ChainCheck): string | undefined {
  const { finding, atMs } = last;
  const endMs = payment.validUntil.getTime();
  const calledMs = Math.max(...callsOf(journal, payment).map(({ overMs }) => overMs));
  const endsSoon = endMs <= calledMs + LONGEST_WAIT_MS;
  const decidedMs = endsSoon ? endMs : calledMs + LONGEST_WAIT_MS;
  const checks = journal.checks.filter(({ run }) => run.paymentId === payment.id);
  const before = checks.slice(0, checks.indexOf(last));
  if (finding.kind === 'unreadable') {
    // A use that a check has found stays found.
    if (before.some((check) => check.finding.kind === 'used' && countsFor(check.run))) return undefined;
    const isSilent = (finding.chainTime?.getTime() ?? Number.POSITIVE_INFINITY) > decidedMs;
    return atMs >= decidedMs && isSilent && heldFor(before, atMs - LONGEST_UNREADABLE_MS, 'unreadable')
      ? 'the chain was silent for a day after its end'
      : undefined;
  }
  const isTwice = finding.kind === 'unused' && heldFor(before, atMs - BETWEEN_CHECKS_MS, 'unused', decidedMs);
  return !endsSoon && atMs >= decidedMs && isTwice
    ? 'it ends far ahead, and two checks found it unused'
    : undefined;
}

/** Whether checks found nothing else since a check at that time or earlier. A check that was cut off may not have counted. */
function heldFor(
  checks: readonly ChainCheck[],
  sinceMs: number,
  kind: 'unreadable' | 'unused',
  notBeforeMs = 0,
): boolean {
  for (const { atMs, finding, run } of checks.toReversed()) {
    if (finding.kind !== kind) {
      if (countsFor(run)) return false;
    } else if (atMs <= sinceMs) return atMs >= notBeforeMs;
  }
  return false;
}

function countsFor({ isCutOff }: Run): boolean {
  return !isCutOff;
}

function callsOf({ calls }: Journal, payment: Payment): Call[] {
  return calls.filter(({ nonce }) => nonce === nonceOf(payment));
}
