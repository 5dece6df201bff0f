import type { Finding } from '../../chains/check/finding.js';
import { OUTCOME_UNKNOWN } from '../../payments/states.js';
import type { CheckCase, CheckStep } from './check-case.js';
import { afterPause, afterUnreadable, earlier, inMs } from './check-times.js';
import type { Action } from './decision-table.js';
import { describeDuration } from './describe-duration.js';
import {
  BETWEEN_CHECKS_MS,
  BLOCK_LAG_MS,
  CHECK_PAUSES_MS,
  CONFIRMING_MS,
  PENDING_LATE_MS,
  REORGANISATION_MS,
  SEARCHING_MS,
  UNREADABLE_PAUSE_MS,
  WATCH_INTERVAL_MS,
} from './limits.js';
import { nextWatch, nextWatchTime } from './watch.js';

type CheckAction = Action<CheckCase, CheckStep>;

export const succeed: Action<CheckCase<Finding<'paid'>>, CheckStep> = {
  text: 'succeed',
  decide: ({ finding: { transaction, payer, proofIndex } }) => ({
    kind: 'succeed',
    proof: { transaction, payer, proofIndex },
  }),
};

const FAIL = 'fail with the recorded code or `unexpected_settle_error`';
const SILENCE_PAUSES = `(${describeDuration(UNREADABLE_PAUSE_MS)} to ${describeDuration(WATCH_INTERVAL_MS)})`;
const checkOnceMore = `one more check in ${describeDuration(REORGANISATION_MS)}`;

export const failAsSpent: CheckAction = {
  text: `fail with \`invalid_transaction_state\`; ${checkOnceMore}`,
  decide: ({ times }) => fail('invalid_transaction_state', inMs(times, REORGANISATION_MS)),
};

export const failAsExpired: CheckAction = {
  text: `${FAIL}; ${checkOnceMore}`,
  decide: ({ payment, times }) => fail(codeOf(payment), inMs(times, REORGANISATION_MS)),
};

export const failAsRefused: CheckAction = {
  text: 'fail with the recorded code; watch for late money',
  decide: ({ payment, times: { now } }) => fail(codeOf(payment), nextWatch(now, payment.validUntil, now)),
};

const GIVE_UP_AS_UNCERTAIN = `fail with \`${OUTCOME_UNKNOWN}\``;

export const giveUpUnused: CheckAction = {
  text: `${GIVE_UP_AS_UNCERTAIN}; watch for late money`,
  decide: ({ payment: { validUntil }, times: { now } }) =>
    fail(OUTCOME_UNKNOWN, nextWatch(now, validUntil, now)),
};

export const giveUpUnreadable: CheckAction = {
  text: `${GIVE_UP_AS_UNCERTAIN}; check for late money after as long as the chain has been unreadable ${SILENCE_PAUSES}`,
  decide: ({ payment, times }) => fail(OUTCOME_UNKNOWN, afterUnreadable(payment, times)),
};

export const settleAgain: CheckAction = {
  text: 'send to `/settle` again',
  decide: ({ times }) => ({ kind: 'settle_again', at: times.now }),
};

export const askVerify: CheckAction = { text: 'ask `/verify`', decide: () => ({ kind: 'ask_verify' }) };

export const stopWatching: CheckAction = {
  text: 'stop watching',
  decide: () => ({ kind: 'stop_watching' }),
};

const pauses = CHECK_PAUSES_MS.map((ms) => ms / 1000).join(', ');

export const checkAgain: CheckAction = {
  text: `check again after the next pause (${pauses} s)`,
  decide: ({ payment, times }) => ({ kind: 'check_again', at: afterPause(payment, times) }),
};

export const awaitConfirmations: CheckAction = checkAgainIn(CONFIRMING_MS);
export const continueSearch: CheckAction = checkAgainIn(SEARCHING_MS);
export const awaitLateUse: CheckAction = checkAgainIn(PENDING_LATE_MS);

export const checkASecondTime: CheckAction = {
  text: `check a second time ${describeDuration(BETWEEN_CHECKS_MS)} after the first`,
  decide: ({ payment, times }) => {
    const unusedSeenAt = payment.unusedSeenAt ?? times.now;
    const due = new Date(unusedSeenAt.getTime() + BETWEEN_CHECKS_MS);
    // The time may have come by one clock alone: the check is made again then, and not at once.
    return { kind: 'check_again', at: due > times.now ? due : afterPause(payment, times), unusedSeenAt };
  },
};

const regularly = `${describeDuration(BLOCK_LAG_MS)} after the authorization's end, at the latest in ${describeDuration(WATCH_INTERVAL_MS)}; after that end every ${describeDuration(WATCH_INTERVAL_MS)}`;

export const watchRegularly: CheckAction = {
  text: `check again ${regularly}`,
  decide: ({ payment: { validUntil }, times: { now } }) => ({
    kind: 'check_again',
    at: nextWatchTime(now, validUntil),
  }),
};

export const watchUntilReadable: CheckAction = {
  text: `check again after as long as checks have left it open ${SILENCE_PAUSES}, at the latest at the next regular check`,
  decide: ({ payment, times }) => ({
    kind: 'check_again',
    at: earlier(afterUnreadable(payment, times), nextWatchTime(times.now, payment.validUntil)),
  }),
};

function checkAgainIn(ms: number): CheckAction {
  return {
    text: `check again in ${describeDuration(ms)}`,
    decide: ({ times }) => ({ kind: 'check_again', at: inMs(times, ms) }),
  };
}

function fail(code: string, watchAt: Date | undefined): CheckStep {
  return { kind: 'fail', code, released: false, watchAt };
}

function codeOf({ failureCode }: CheckCase['payment']): string {
  return failureCode ?? 'unexpected_settle_error';
}
