import type { ChainFinding } from '../../chains/finding.js';
import type { SearchPlace } from '../../chains/search-place.js';
import { isAboutToEnd, surelyOver } from './after-call.js';
import { inWords } from './finding-in-words.js';
import {
  BETWEEN_LOOKS_MS,
  CONFIRMING_MS,
  LISTENING_PAUSE_MS,
  LONGEST_WAIT_MS,
  LOOK_PAUSES_MS,
  MAX_SETTLE_CALLS,
  PENDING_LATE_MS,
  REORGANISATION_MS,
  REPORTED_PAUSE_MS,
  SEARCHING_MS,
  UNREADABLE_MARGIN_MS,
  UNREADABLE_PAUSE_MS,
  WATCH_INTERVAL_MS,
} from './limits.js';
import {
  type Decision,
  type Finding,
  type Learnt,
  type Rules,
  saidSettled,
  type Times,
  type WatchedPayment,
} from './standing.js';
import { nextWatch } from './watch.js';

/**
 * What one look at a chain decides. Nothing is guessed: a payment succeeds on proof of its transfer, fails when its
 * money surely can't move any more (or, if no chain can be read, long after that), and is watched on when in doubt.
 * What was found decides, never that something was not found.
 */
export interface Look {
  finding: ChainFinding;
  /** What `/verify` said when it was asked: that the payload is valid, so unused. */
  isValid?: boolean;
}

export function afterLook(
  payment: WatchedPayment,
  look: Look,
  rules: Rules,
  times: Times,
): Decision | { kind: 'ask_verify' } {
  const { finding } = look;
  const step =
    payment.status === 'failed'
      ? stepOfLate(payment, finding, rules, times)
      : stepOf(payment, look, rules, times);
  if (step.kind === 'ask_verify') return step;
  const said = { source: 'chain', said: inWords(finding) } as const;
  if (step.kind !== 'look_again' && step.kind !== 'settle_again') return { ...step, said };
  const unusedSeenAt = (step.kind === 'look_again' && step.unusedSeenAt) || null;
  return {
    kind: step.kind,
    at: step.at,
    learnt: { ...learntFrom(payment, finding, times), unusedSeenAt },
    said,
  };
}

/** The transfer was proof of another payment before: this one's is still to be found. */
export function afterProofTaken(payment: WatchedPayment, transaction: string, times: Times): Decision {
  const said = { source: 'service', said: `the transfer in ${transaction} proves another payment` } as const;
  const learnt = { unusedSeenAt: null, unreadableSince: null, searchPlace: null, usedSeenAt: null };
  return { kind: 'look_again', at: nextLook(payment, times), learnt, said };
}

type Step =
  | { kind: 'succeed'; proof: { transaction: string; payer: string; proofIndex: number } }
  | { kind: 'fail'; code: string; released: false; watchAt: Date | undefined }
  | { kind: 'settle_again'; at: Date }
  /** `unusedSeenAt`: this look, or one before it, is the first of the two that decide; whatever lies between undoes it. */
  | { kind: 'look_again'; at: Date; unusedSeenAt?: Date }
  | { kind: 'stop_watching' }
  | { kind: 'ask_verify' };

function stepOf(payment: WatchedPayment, look: Look, rules: Rules, times: Times): Step {
  const { finding } = look;
  switch (finding.kind) {
    case 'paid':
      return stepOfPaid(finding, rules, times);
    case 'pending':
      return { kind: 'look_again', at: inMs(times, CONFIRMING_MS) };
    case 'spent_otherwise':
      return fail('invalid_transaction_state', inMs(times, REORGANISATION_MS));
    case 'unused':
      return stepOfUnused(payment, finding, rules, times);
    case 'used':
      return { kind: 'look_again', at: nextOfSearch(payment, finding, times) };
    case 'searching':
      return (
        settleUnseen(payment, look, times) ?? {
          kind: 'look_again',
          at: nextOfSearch(payment, finding, times),
        }
      );
    case 'unreadable':
      return stepOfUnreadable(payment, look, finding, rules, times);
  }
}

/** A transfer in the newest block is one confirmation; without one there is no proof. */
function stepOfPaid(
  { transaction, payer, proofIndex, confirmations }: Finding<'paid'>,
  rules: Rules,
  times: Times,
): Step {
  const enough = confirmations >= Math.max(1, rules.confirmations);
  return enough
    ? { kind: 'succeed', proof: { transaction, payer, proofIndex } }
    : { kind: 'look_again', at: inMs(times, CONFIRMING_MS) };
}

/** A look counts only if its block is later than the end of the last `/settle` call. */
function stepOfUnused(
  payment: WatchedPayment,
  { chainTime, exhausted }: Finding<'unused'>,
  rules: Rules,
  times: Times,
): Step {
  const settleEnd = lastSettleEnd(payment, rules);
  if (chainTime <= settleEnd) return { kind: 'look_again', at: nextLook(payment, times) };
  if (exhausted) return fail(failureCode(payment), inMs(times, REORGANISATION_MS));
  const { endsSoon, giveUpAt } = decisionTimes(payment, settleEnd);
  if (!endsSoon && times.now >= giveUpAt) return stepOfTwoLooks(payment, times);
  return maySettleAgain(payment, times)
    ? { kind: 'settle_again', at: times.now }
    : { kind: 'look_again', at: nextLook(payment, times) };
}

/** Its end is far ahead: two looks that saw it unused decide. */
function stepOfTwoLooks(payment: WatchedPayment, times: Times): Step {
  const { unusedSeenAt, validUntil } = payment;
  if (unusedSeenAt === null)
    return { kind: 'look_again', at: inMs(times, BETWEEN_LOOKS_MS), unusedSeenAt: times.now };
  const secondLookAt = new Date(unusedSeenAt.getTime() + BETWEEN_LOOKS_MS);
  if (times.now < secondLookAt) return { kind: 'look_again', at: secondLookAt, unusedSeenAt };
  return fail(failureCode(payment), nextWatch(times.now, validUntil, times.now));
}

/** Nothing is given up for one bad moment of the endpoint, however late the look came: nobody could read it for a minute. */
function stepOfUnreadable(
  payment: WatchedPayment,
  look: Look,
  { chainTime }: Finding<'unreadable'>,
  rules: Rules,
  times: Times,
): Step {
  const settleEnd = lastSettleEnd(payment, rules);
  const { giveUpAt, endsSoon } = decisionTimes(payment, settleEnd);
  // On a chain that stands still no time has passed, whatever the clock says.
  const standsStill = chainTime !== undefined && chainTime <= (endsSoon ? payment.validUntil : settleEnd);
  // The facilitator's clear word that it settled is proof enough never to call the payment failed unseen.
  if (standsStill || saidSettled(payment) || payment.usedSeenAt !== null)
    return { kind: 'look_again', at: nextLook(payment, times) };
  const isOver = times.now >= giveUpAt && times.own >= giveUpAt;
  if (isOver && unreadableMs(payment, times) >= UNREADABLE_MARGIN_MS)
    return fail(failureCode(payment), whenReadable(payment, times));
  const isLastMinute = times.now.getTime() >= giveUpAt.getTime() - UNREADABLE_MARGIN_MS;
  const at = isLastMinute
    ? earlier(nextLook(payment, times), inMs(times, LISTENING_PAUSE_MS))
    : nextLook(payment, times);
  return settleUnseen(payment, look, times) ?? { kind: 'look_again', at };
}

/** Without the chain's word, the facilitator's `/verify` can still say that the payload is unused. */
function settleUnseen(payment: WatchedPayment, { isValid }: Look, times: Times): Step | undefined {
  if (isValid === false || !maySettleAgain(payment, times)) return undefined;
  return isValid ? { kind: 'settle_again', at: times.now } : { kind: 'ask_verify' };
}

/** A payment that failed before its money surely could not move any more. */
function stepOfLate(payment: WatchedPayment, finding: ChainFinding, rules: Rules, times: Times): Step {
  if (finding.kind === 'paid') return stepOfPaid(finding, rules, times);
  const isOver = finding.kind === 'unused' && finding.exhausted;
  const regular = nextWatch(times.now, payment.validUntil, payment.failedAt ?? payment.claimedAt);
  if (finding.kind === 'spent_otherwise' || isOver || regular === undefined) return { kind: 'stop_watching' };
  switch (finding.kind) {
    case 'pending':
    case 'used':
      return { kind: 'look_again', at: inMs(times, PENDING_LATE_MS) };
    case 'searching':
      return { kind: 'look_again', at: nextOfSearch(payment, finding, times) };
    case 'unreadable': {
      const soon = Math.min(whenReadable(payment, times).getTime(), regular.getTime());
      return { kind: 'look_again', at: new Date(soon) };
    }
    case 'unused':
      return { kind: 'look_again', at: regular };
  }
}

/** A look that could read nothing leaves what was known as it was, and so does one that waits for what it has seen. */
function learntFrom(
  { searchPlace, usedSeenAt, unreadableSince }: WatchedPayment,
  finding: ChainFinding,
  { now }: Times,
): Learnt {
  if (finding.kind === 'pending') return { unreadableSince: null, searchPlace, usedSeenAt };
  if (finding.kind === 'unreadable')
    return { unreadableSince: unreadableSince ?? now, searchPlace, usedSeenAt };
  return {
    unreadableSince: null,
    searchPlace: ('place' in finding && finding.place) || null,
    usedSeenAt: finding.kind === 'used' ? (usedSeenAt ?? now) : null,
  };
}

/** When an undecided payment may be called failed, and by what: its end, when that is within reach. */
function decisionTimes(
  { validUntil }: WatchedPayment,
  lastSettleAt: Date,
): { endsSoon: boolean; giveUpAt: Date } {
  const longest = lastSettleAt.getTime() + LONGEST_WAIT_MS;
  const endsSoon = validUntil.getTime() <= longest;
  return { endsSoon, giveUpAt: new Date(endsSoon ? validUntil.getTime() + UNREADABLE_MARGIN_MS : longest) };
}

/** A call that never ended counts as ended when it surely had. */
function lastSettleEnd({ settleEndedAt, settleAskedAt, claimedAt }: WatchedPayment, rules: Rules): Date {
  return settleEndedAt ?? surelyOver(settleAskedAt ?? claimedAt, rules);
}

function maySettleAgain(payment: WatchedPayment, { now }: Times): boolean {
  const pauseMs = payment.reportedTransaction === null ? 0 : REPORTED_PAUSE_MS;
  const endedMs = payment.settleEndedAt?.getTime() ?? 0;
  return (
    !isAboutToEnd(payment, now) &&
    payment.settleCalls < MAX_SETTLE_CALLS &&
    now.getTime() >= endedMs + pauseMs
  );
}

function nextLook({ attempt, settleCalls }: WatchedPayment, times: Times): Date {
  const looks = Math.min(Math.max(attempt - settleCalls - 1, 0), LOOK_PAUSES_MS.length - 1);
  return inMs(times, LOOK_PAUSES_MS[looks] ?? LOOK_PAUSES_MS[4]);
}

/** A search that has come further goes on at once; one that has not, or has been everywhere, may have to wait. */
function nextOfSearch(payment: WatchedPayment, { place }: Finding<'used' | 'searching'>, times: Times): Date {
  const isFurther = place !== undefined && !isSamePlace(place, payment.searchPlace);
  return isFurther ? inMs(times, SEARCHING_MS) : nextLook(payment, times);
}

function isSamePlace(one: SearchPlace, other: SearchPlace | null): boolean {
  const names = new Set([...Object.keys(one), ...Object.keys(other ?? {})]);
  return other !== null && [...names].every((name) => one[name] === other[name]);
}

/** A look that could read nothing is soon made up for: after as long as it has been so, which doubles the pauses. */
function whenReadable(payment: WatchedPayment, times: Times): Date {
  return inMs(
    times,
    Math.min(Math.max(unreadableMs(payment, times), UNREADABLE_PAUSE_MS), WATCH_INTERVAL_MS),
  );
}

function unreadableMs({ unreadableSince }: WatchedPayment, { now }: Times): number {
  return unreadableSince === null ? 0 : now.getTime() - unreadableSince.getTime();
}

function fail(code: string, watchAt: Date | undefined): Step {
  return { kind: 'fail', code, released: false, watchAt };
}

function failureCode({ failureCode }: WatchedPayment): string {
  return failureCode ?? 'unexpected_settle_error';
}

function earlier(one: Date, other: Date): Date {
  return one < other ? one : other;
}

function inMs({ now }: Times, ms: number): Date {
  return new Date(now.getTime() + ms);
}
