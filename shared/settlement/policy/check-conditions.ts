import type { SearchPosition } from '../../chains/check/search-position.js';
import { timeIsLeft } from './answer-conditions.js';
import type { CheckCondition } from './check-case.js';
import { earlier, endsFarAhead, isTooEarly, lastCallEnd, longestWaitEnd, waitEnd } from './check-times.js';
import { describeDuration } from './describe-duration.js';
import {
  BETWEEN_CHECKS_MS,
  BLOCK_AHEAD_MS,
  BLOCK_LAG_MS,
  CALL_PAUSES_MS,
  LONGEST_UNREADABLE_MS,
  LONGEST_WAIT_MS,
  LONGEST_WATCH_MS,
  MAX_SETTLE_CALLS,
  REPORTED_PAUSE_MS,
} from './limits.js';
import { facilitatorReportedSuccess, type Times, type WatchedPayment } from './payment-state.js';
import { isWatchOver, nextWatchTime } from './watch.js';

/** The newest block is the first confirmation. Without one there is no proof, whatever the operator has set. */
export const enoughConfirmations: CheckCondition<'paid'> = {
  by: 'chain',
  text: 'with enough confirmations',
  holds: ({ finding, settings }) => finding.confirmations >= Math.max(1, settings.confirmations),
};

export const blockIsTooEarly: CheckCondition<'unused'> = {
  by: 'chain',
  text: 'its block is not later than the end of the last call, or than a check that saw the authorization used',
  holds: ({ payment, finding: { chainTime }, settings }) => isTooEarly(chainTime, payment, settings),
};

export const blockIsLateEnough: CheckCondition<'unused'> = {
  by: 'chain',
  text: 'its block is later than the end of the last call, and than a check that saw the authorization used',
  holds: (check) => !blockIsTooEarly.holds(check),
};

export const canNeverBeUsed: CheckCondition<'unused'> = {
  by: 'chain',
  text: 'no later block can use it',
  holds: ({ finding }) => finding.exhausted,
};

/** Every call since then would have cleared the code. */
export const refusalIsRecorded: CheckCondition = {
  by: 'facilitator',
  text: 'the last call was refused with a code that a used authorization gets too',
  holds: ({ payment }) => payment.failureCode !== null,
};

/** A block ahead of either clock shows that the chain's clock may be ahead: a block from before the call may be dated after it. */
export const blockIsNotAhead: CheckCondition<'unused'> = {
  by: 'clock',
  text: `its block is at most ${describeDuration(BLOCK_AHEAD_MS)} ahead of either clock`,
  holds: ({ finding: { chainTime }, times }) => isPast(new Date(chainTime.getTime() - BLOCK_AHEAD_MS), times),
};

export const endIsFarAhead: CheckCondition = {
  by: 'database',
  text: `the authorization ends more than ${describeDuration(LONGEST_WAIT_MS)} after the last call`,
  holds: ({ payment, settings }) => endsFarAhead(payment, settings),
};

/** On a chain that stands still no time has passed, whatever the clocks say. */
export const longestWaitIsOver: CheckCondition<'unused'> = {
  by: 'clock',
  text: `${describeDuration(LONGEST_WAIT_MS)} have passed since the last call by both clocks, and on the chain`,
  holds: ({ payment, finding, settings, times }) => {
    const end = longestWaitEnd(payment, settings);
    return isPast(end, times) && finding.chainTime >= end;
  },
};

export const secondCheckNotDue: CheckCondition<'unused'> = {
  by: 'clock',
  text: `the first check that saw it unused was less than ${describeDuration(BETWEEN_CHECKS_MS)} ago by either clock, or not before this check's block, or is this one`,
  holds: ({ payment: { unusedSeenAt }, finding, times }) =>
    unusedSeenAt === null ||
    msSince(unusedSeenAt, times) < BETWEEN_CHECKS_MS ||
    finding.chainTime <= unusedSeenAt,
};

const callsAreLeft: CheckCondition = {
  by: 'database',
  text: `fewer than ${MAX_SETTLE_CALLS} calls were made`,
  holds: ({ payment }) => payment.settleCalls < MAX_SETTLE_CALLS,
};

const callPauses = CALL_PAUSES_MS.map((ms) => ms / 1000).join(', ');

/** The pauses grow, so that a payment whose calls hang leaves the facilitator to others. */
const lastCallIsOver: CheckCondition = {
  by: 'clock',
  text: `the last call is over, for a pause that grows with the calls so far (${callPauses} s), and for ${describeDuration(REPORTED_PAUSE_MS)} if a transaction was reported`,
  holds: ({ payment, times }) =>
    payment.settleEndedAt === null ||
    times.now.getTime() >= payment.settleEndedAt.getTime() + pauseBeforeCall(payment),
};

function pauseBeforeCall({ settleCalls, reportedTransaction }: WatchedPayment): number {
  const pauseMs = CALL_PAUSES_MS[Math.max(settleCalls, 1) - 1] ?? CALL_PAUSES_MS[4];
  return reportedTransaction === null ? pauseMs : Math.max(pauseMs, REPORTED_PAUSE_MS);
}

export const maySettleAgain = [timeIsLeft, callsAreLeft, lastCallIsOver] as const;

export const verifyNotAsked: CheckCondition = {
  by: 'verify',
  text: '`/verify` was not asked',
  holds: ({ isValid }) => isValid === undefined,
};

export const verifySaysValid: CheckCondition = {
  by: 'verify',
  text: '`/verify` says valid',
  holds: ({ isValid }) => isValid === true,
};

export const searchHasAdvanced: CheckCondition<'used' | 'searching'> = {
  by: 'chain',
  text: 'the search has come further since the last check',
  holds: ({ payment: { searchPlace }, finding: { position } }) =>
    position !== undefined && !isSamePosition(position, searchPlace),
};

export const searchHasStopped: CheckCondition<'searching'> = {
  by: 'chain',
  text: 'the search has come no further since the last check',
  holds: (check) => !searchHasAdvanced.holds(check),
};

function isSamePosition(one: SearchPosition, other: SearchPosition | null): boolean {
  const names = new Set([...Object.keys(one), ...Object.keys(other ?? {})]);
  return other !== null && [...names].every((name) => one[name] === other[name]);
}

/** The check waits for its turn at the endpoint, which was not asked. */
export const hadNoTurn: CheckCondition<'unreadable'> = {
  by: 'chain',
  text: 'the endpoint was not asked, since its calls wait for their turns',
  holds: ({ finding }) => finding.againInMs !== undefined,
};

export const chainStandsStill: CheckCondition<'unreadable'> = {
  by: 'chain',
  text: 'its newest block is not later than the end of the authorization, or of the last call if that is far ahead',
  holds: ({ payment, finding: { chainTime }, settings }) => {
    const end = endsFarAhead(payment, settings) ? lastCallEnd(payment, settings) : payment.validUntil;
    return chainTime !== undefined && chainTime <= end;
  },
};

export const successWasReported: CheckCondition = {
  by: 'facilitator',
  text: 'the facilitator has clearly reported success',
  holds: ({ payment }) => facilitatorReportedSuccess(payment),
};

export const seenUsedBefore: CheckCondition = {
  by: 'chain',
  text: 'an earlier check saw the authorization used',
  holds: ({ payment }) => payment.usedSeenAt !== null,
};

export const waitIsOver: CheckCondition = {
  by: 'clock',
  text: "the authorization's end, or the wait for it, is past by both clocks",
  holds: ({ payment, settings, times }) => isPast(waitEnd(payment, settings), times),
};

export const unreadableForLong: CheckCondition = {
  by: 'clock',
  text: `every check of the last ${describeDuration(LONGEST_UNREADABLE_MS)} could read nothing, by both clocks`,
  holds: ({ payment: { unreadableSince }, times }) =>
    unreadableSince !== null && msSince(unreadableSince, times) >= LONGEST_UNREADABLE_MS,
};

/** A check that comes late starts the time again: after days without a worker, one check has not lasted for days. */
export const openForLong: CheckCondition = {
  by: 'clock',
  text: `every check of the last ${describeDuration(LONGEST_UNREADABLE_MS)} has left it open, by both clocks`,
  holds: unreadableForLong.holds,
};

/** The time since `at` by the clock that is behind. */
function msSince(at: Date, { now, own }: Times): number {
  return Math.min(now.getTime(), own.getTime()) - at.getTime();
}

function isPast(at: Date, { now, own }: Times): boolean {
  return now >= at && own >= at;
}

export const watchIsOver: CheckCondition = {
  by: 'clock',
  text: `the next regular check would come more than ${describeDuration(LONGEST_WATCH_MS)} after the failure, by both clocks`,
  holds: ({ payment, times: { now, own } }) => isWatchOverAt(earlier(now, own), payment),
};

/** A node that is behind shows nothing of the blocks in which the money may have come. */
export const watchIsOverOnChain: CheckCondition<'unused'> = {
  by: 'chain',
  text: `by the time of its block, too, which may be ${describeDuration(BLOCK_LAG_MS)} behind`,
  holds: ({ payment, finding: { chainTime } }) =>
    isWatchOverAt(new Date(chainTime.getTime() + BLOCK_LAG_MS), payment),
};

function isWatchOverAt(at: Date, { validUntil, failedAt, claimedAt }: WatchedPayment): boolean {
  return isWatchOver(nextWatchTime(at, validUntil), failedAt ?? claimedAt);
}
