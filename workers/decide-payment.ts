import { isDeepStrictEqual } from 'node:util';
import type { ChainFinding } from '../shared/chains/finding.js';
import { cautiousNowMs, now, nowMs } from '../shared/clock.js';
import {
  BETWEEN_LOOKS_MS,
  decisionTimes,
  nextWatch,
  SETTLE_MARGIN_MS,
  UNREADABLE_MARGIN_MS,
  WATCH_INTERVAL_MS,
} from '../shared/domain/payment.js';
import type { Payment } from '../shared/models/payment.js';
import { AFTER_TIMEOUT_MS } from '../shared/services/payments/take-work.js';
import { confirmationsFor } from './confirmations.js';
import type { WorkerDeps } from './deps.js';
import { facilitatorRequest } from './stored-payment.js';

/**
 * What one look at a chain decides. Nothing is guessed: a payment succeeds on proof of its transfer, fails when its
 * money surely can't move any more (or, if no chain can be read, long after that), and is watched on when in doubt.
 * What was found decides, never that something was not found.
 */
export type Decision =
  | { kind: 'succeed'; finding: Finding<'paid'> }
  | { kind: 'fail'; code: string; watchAt: Date | undefined }
  | { kind: 'settle_again' }
  /** `unusedSeenAt`: this look, or one before it, is the first of the two that decide; whatever lies between undoes it. */
  | { kind: 'look_again'; at: Date; unusedSeenAt?: Date }
  | { kind: 'stop_watching' };

export type Finding<Kind extends ChainFinding['kind']> = Extract<ChainFinding, { kind: Kind }>;

/** Pauses between looks, the last one again and again. */
const LOOK_PAUSES_MS = [2000, 4000, 8000, 15_000, 30_000];
/** While a transaction is seen and waits for its confirmations. */
const CONFIRMING_MS = 2000;
/** How often a payload goes to `/settle` in all. */
const MAX_SETTLE_CALLS = 6;
const REPORTED_PAUSE_MS = 30_000;
const PENDING_LATE_MS = 30_000;
const UNREADABLE_PAUSE_MS = 15_000;
/** Between two looks of one search. */
const SEARCHING_MS = 1000;
/** What the newest block proves may still be reorganised away: one more look after this. */
const REORGANISATION_MS = 120_000;

export async function decide(deps: WorkerDeps, payment: Payment, finding: ChainFinding): Promise<Decision> {
  switch (finding.kind) {
    case 'paid':
      return decidePaid(deps, payment, finding);
    case 'pending':
      return { kind: 'look_again', at: inMs(CONFIRMING_MS) };
    case 'spent_otherwise':
      return { kind: 'fail', code: 'invalid_transaction_state', watchAt: inMs(REORGANISATION_MS) };
    case 'unused':
      return await decideUnused(deps, payment, finding);
    case 'used':
      return { kind: 'look_again', at: nextOfSearch(payment, finding) };
    case 'searching':
      if (await mayBeSettledUnseen(deps, payment)) return { kind: 'settle_again' };
      return { kind: 'look_again', at: nextOfSearch(payment, finding) };
    case 'unreadable':
      return await decideUnreadable(deps, payment, finding);
  }
}

/** A search that has come further goes on at once; one that has not, or has been everywhere, may have to wait. */
function nextOfSearch(payment: Payment, { place }: Finding<'used' | 'searching'>): Date {
  const isFurther = place !== undefined && !isDeepStrictEqual(place, payment.searchPlace);
  return isFurther ? inMs(SEARCHING_MS) : nextLook(payment);
}

/** A transfer in the newest block is one confirmation; without one there is no proof. */
function decidePaid(deps: WorkerDeps, payment: Payment, finding: Finding<'paid'>): Decision {
  const enough = finding.confirmations >= Math.max(1, confirmationsFor(deps.config, payment.network));
  return enough ? { kind: 'succeed', finding } : { kind: 'look_again', at: inMs(CONFIRMING_MS) };
}

/** A look counts only if its block is later than the end of the last `/settle` call. */
async function decideUnused(
  deps: WorkerDeps,
  payment: Payment,
  finding: Finding<'unused'>,
): Promise<Decision> {
  const counts = finding.chainTime > lastSettleEnd(deps, payment);
  if (!counts) return { kind: 'look_again', at: nextLook(payment) };
  if (finding.exhausted) {
    return { kind: 'fail', code: failureCode(payment), watchAt: inMs(REORGANISATION_MS) };
  }
  const { endsSoon, giveUpAt } = decisionTimes(payment.validUntil, lastSettleEnd(deps, payment));
  if (!endsSoon && now() >= giveUpAt) {
    const { unusedSeenAt } = payment;
    if (unusedSeenAt === null) return { kind: 'look_again', at: inMs(BETWEEN_LOOKS_MS), unusedSeenAt: now() };
    const secondLookAt = unusedSeenAt.getTime() + BETWEEN_LOOKS_MS;
    if (nowMs() < secondLookAt) return { kind: 'look_again', at: new Date(secondLookAt), unusedSeenAt };
    return { kind: 'fail', code: failureCode(payment), watchAt: nextWatch(now(), payment.validUntil, now()) };
  }
  return maySettleAgain(payment) ? { kind: 'settle_again' } : { kind: 'look_again', at: nextLook(payment) };
}

/** Without the chain's word, the facilitator's `/verify` can still say that the payload is unused. */
async function mayBeSettledUnseen({ facilitator }: WorkerDeps, payment: Payment): Promise<boolean> {
  return maySettleAgain(payment) && (await facilitator.verify(facilitatorRequest(payment))).kind === 'valid';
}

/**
 * Nothing is given up for one bad moment of the endpoint, however late the look came: nobody could read it for a minute.
 */
async function decideUnreadable(
  deps: WorkerDeps,
  payment: Payment,
  { chainTime }: Finding<'unreadable'>,
): Promise<Decision> {
  const settleEnd = lastSettleEnd(deps, payment);
  const { giveUpAt, endsSoon } = decisionTimes(payment.validUntil, settleEnd);
  // On a chain that stands still no time has passed, whatever the clock says.
  const standsStill = chainTime !== undefined && chainTime <= (endsSoon ? payment.validUntil : settleEnd);
  // The facilitator's clear word that it settled is proof enough never to call the payment failed unseen.
  if (standsStill || saidSettled(payment) || payment.usedSeenAt !== null)
    return { kind: 'look_again', at: nextLook(payment) };
  if (cautiousNowMs() >= giveUpAt.getTime() && unreadableMs(payment) >= UNREADABLE_MARGIN_MS) {
    return { kind: 'fail', code: failureCode(payment), watchAt: whenReadable(payment) };
  }
  if (await mayBeSettledUnseen(deps, payment)) return { kind: 'settle_again' };
  return { kind: 'look_again', at: nextLook(payment) };
}

/** A payment that failed before its money surely could not move any more. */
export function decideLate(deps: WorkerDeps, payment: Payment, finding: ChainFinding): Decision {
  if (finding.kind === 'paid') return decidePaid(deps, payment, finding);
  const isOver = finding.kind === 'unused' && finding.exhausted;
  const regular = nextWatch(now(), payment.validUntil, payment.failedAt ?? payment.claimedAt);
  if (finding.kind === 'spent_otherwise' || isOver || regular === undefined) return { kind: 'stop_watching' };
  switch (finding.kind) {
    case 'pending':
    case 'used':
      return { kind: 'look_again', at: inMs(PENDING_LATE_MS) };
    case 'searching':
      return { kind: 'look_again', at: nextOfSearch(payment, finding) };
    case 'unreadable':
      return {
        kind: 'look_again',
        at: new Date(Math.min(regular.getTime(), whenReadable(payment).getTime())),
      };
    case 'unused':
      return { kind: 'look_again', at: regular };
  }
}

/** A look that could read nothing is soon made up for: after as long as it has been so, which doubles the pauses. */
function whenReadable(payment: Payment): Date {
  return inMs(Math.min(Math.max(unreadableMs(payment), UNREADABLE_PAUSE_MS), WATCH_INTERVAL_MS));
}

function unreadableMs({ unreadableSince }: Payment): number {
  return unreadableSince === null ? 0 : nowMs() - unreadableSince.getTime();
}

/** The facilitator has clearly said that it settled; later words of its do not take that back. */
export function saidSettled(payment: Payment): boolean {
  return payment.reportedTransaction !== null && !payment.settleUnclear;
}

function maySettleAgain(payment: Payment): boolean {
  const timeIsLeft = nowMs() < payment.validUntil.getTime() - SETTLE_MARGIN_MS;
  // A facilitator that named a transaction has sent one: it gets time to land before the payload goes out again.
  const pauseMs = payment.reportedTransaction === null ? 0 : REPORTED_PAUSE_MS;
  const endedMs = payment.settleEndedAt?.getTime() ?? 0;
  return timeIsLeft && payment.settleCalls < MAX_SETTLE_CALLS && nowMs() >= endedMs + pauseMs;
}

/** A call that never ended counts as ended when it surely had. */
function lastSettleEnd({ config }: WorkerDeps, payment: Payment): Date {
  if (payment.settleEndedAt !== null) return payment.settleEndedAt;
  const asked = payment.settleAskedAt ?? payment.claimedAt;
  return new Date(asked.getTime() + config.facilitator.settleTimeoutMs + AFTER_TIMEOUT_MS);
}

export function nextLook(payment: Payment): Date {
  const looks = payment.attempt - payment.settleCalls - 1;
  return inMs(LOOK_PAUSES_MS[Math.min(Math.max(looks, 0), LOOK_PAUSES_MS.length - 1)] ?? 30_000);
}

function inMs(ms: number): Date {
  return new Date(nowMs() + ms);
}

function failureCode(payment: Payment): string {
  return payment.failureCode ?? 'unexpected_settle_error';
}
