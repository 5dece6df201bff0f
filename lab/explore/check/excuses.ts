import type { Payment } from '../../../shared/payments/model.js';
import {
  BETWEEN_LOOKS_MS,
  LONGEST_WAIT_MS,
  UNREADABLE_MARGIN_MS,
} from '../../../shared/settlement/policy/limits.js';
import type { Call, Failing, Journal, Look, Run } from '../world/journal.js';
import { nonceOf } from '../world/world.js';

/**
 * When a payment may be called failed though its money has moved, or moves later. There is no other excuse: a clear word
 * of the facilitator before any outcome was unclear, a silent chain long after the end, and two looks at an authorization
 * that ends far ahead. An operator here says nothing but the truth.
 */
export function excuseOf(journal: Journal, payment: Payment): string | undefined {
  const failing = journal.failings.find(({ paymentId }) => paymentId === payment.id);
  if (failing === undefined || failing.by === 'operator') return undefined;
  const { by: run } = failing;
  if (run.paymentId !== payment.id) return undefined;
  if (run.call !== undefined) return excuseOfAnswer(journal, run.call, failing);
  const last = journal.looks.filter((one) => one.run === run).at(-1);
  return last && excuseOfLook(journal, payment, last);
}

function excuseOfAnswer({ calls }: Journal, call: Call, { atMs }: Failing): string | undefined {
  const isOutcomeUnclear = calls.some(
    (other) =>
      other !== call &&
      other.nonce === call.nonce &&
      other.startedMs <= atMs &&
      other.answered !== 'turned away',
  );
  if (isOutcomeUnclear) return undefined;
  if (call.answered === 'refused') return 'the facilitator refused it clearly';
  const isSeen = call.visible !== 'unused' && call.visible !== 'unreadable';
  return call.answered === 'refused doubtfully' && !isSeen
    ? 'the facilitator refused it, and no use of it could be seen'
    : undefined;
}

function excuseOfLook(journal: Journal, payment: Payment, last: Look): string | undefined {
  const { finding, atMs } = last;
  const endMs = payment.validUntil.getTime();
  const calledMs = Math.max(...callsOf(journal, payment).map(({ overMs }) => overMs));
  const endsSoon = endMs <= calledMs + LONGEST_WAIT_MS;
  const decidedMs = endsSoon ? endMs : calledMs + LONGEST_WAIT_MS;
  const looks = journal.looks.filter(({ run }) => run.paymentId === payment.id);
  const before = looks.slice(0, looks.indexOf(last));
  if (finding.kind === 'unreadable') {
    // What a look has found stays found.
    if (before.some((look) => look.finding.kind === 'used' && countsFor(look.run))) return undefined;
    const isLate = atMs >= decidedMs + (endsSoon ? UNREADABLE_MARGIN_MS : 0);
    const isSilent = (finding.chainTime?.getTime() ?? Number.POSITIVE_INFINITY) > decidedMs;
    return isLate && isSilent && heldFor(before, atMs - UNREADABLE_MARGIN_MS, 'unreadable')
      ? 'the chain was silent long after its end'
      : undefined;
  }
  const isTwice = finding.kind === 'unused' && heldFor(before, atMs - BETWEEN_LOOKS_MS, 'unused', decidedMs);
  return !endsSoon && atMs >= decidedMs && isTwice
    ? 'it ends far ahead, and two looks saw it unused'
    : undefined;
}

/** Nothing but that was found since a look at that time or before; one that was cut off may not have counted. */
function heldFor(
  looks: readonly Look[],
  sinceMs: number,
  kind: 'unreadable' | 'unused',
  notBeforeMs = 0,
): boolean {
  for (const { atMs, finding, run } of looks.toReversed()) {
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
