import type { Finding } from '../../chains/finding.js';
import { OUTCOME_UNKNOWN } from '../../payments/states.js';
import type { Action } from './decision-table.js';
import { describeDuration } from './describe-duration.js';
import {
  BETWEEN_LOOKS_MS,
  BLOCK_LAG_MS,
  CONFIRMING_MS,
  LOOK_PAUSES_MS,
  PENDING_LATE_MS,
  REORGANISATION_MS,
  SEARCHING_MS,
  UNREADABLE_PAUSE_MS,
  WATCH_INTERVAL_MS,
} from './limits.js';
import type { LookCase, LookStep } from './look-case.js';
import { afterPause, afterUnreadable, earlier, inMs } from './look-times.js';
import { nextWatch, nextWatchTime } from './watch.js';

type LookAction = Action<LookCase, LookStep>;

export const succeed: Action<LookCase<Finding<'paid'>>, LookStep> = {
  text: 'succeed',
  decide: ({ finding: { transaction, payer, proofIndex } }) => ({
    kind: 'succeed',
    proof: { transaction, payer, proofIndex },
  }),
};

const FAIL = 'fail with the recorded code or `unexpected_settle_error`';
const afterSilence = `after as long as the chain has been unreadable (${describeDuration(UNREADABLE_PAUSE_MS)} to ${describeDuration(WATCH_INTERVAL_MS)})`;
const lookOnceMore = `one more look in ${describeDuration(REORGANISATION_MS)}`;

export const failAsSpent: LookAction = {
  text: `fail with \`invalid_transaction_state\`; ${lookOnceMore}`,
  decide: ({ times }) => fail('invalid_transaction_state', inMs(times, REORGANISATION_MS)),
};

export const failAsExpired: LookAction = {
  text: `${FAIL}; ${lookOnceMore}`,
  decide: ({ payment, times }) => fail(codeOf(payment), inMs(times, REORGANISATION_MS)),
};

export const failAsRefused: LookAction = {
  text: 'fail with the recorded code; watch for late money',
  decide: ({ payment, times: { now } }) => fail(codeOf(payment), nextWatch(now, payment.validUntil, now)),
};

const GIVE_UP_AS_UNCERTAIN = `fail with \`${OUTCOME_UNKNOWN}\``;

export const giveUpUnused: LookAction = {
  text: `${GIVE_UP_AS_UNCERTAIN}; watch for late money`,
  decide: ({ payment: { validUntil }, times: { now } }) =>
    fail(OUTCOME_UNKNOWN, nextWatch(now, validUntil, now)),
};

export const giveUpUnreadable: LookAction = {
  text: `${GIVE_UP_AS_UNCERTAIN}; look for late money ${afterSilence}`,
  decide: ({ payment, times }) => fail(OUTCOME_UNKNOWN, afterUnreadable(payment, times)),
};

export const settleAgain: LookAction = {
  text: 'send to `/settle` again',
  decide: ({ times }) => ({ kind: 'settle_again', at: times.now }),
};

export const askVerify: LookAction = { text: 'ask `/verify`', decide: () => ({ kind: 'ask_verify' }) };

export const stopWatching: LookAction = {
  text: 'stop watching',
  decide: () => ({ kind: 'stop_watching' }),
};

const pauses = LOOK_PAUSES_MS.map((ms) => ms / 1000).join(', ');

export const lookAgain: LookAction = {
  text: `look again after the next pause (${pauses} s)`,
  decide: ({ payment, times }) => ({ kind: 'look_again', at: afterPause(payment, times) }),
};

export const awaitConfirmations: LookAction = lookAgainIn(CONFIRMING_MS);
export const continueSearch: LookAction = lookAgainIn(SEARCHING_MS);
export const awaitLateUse: LookAction = lookAgainIn(PENDING_LATE_MS);

export const lookASecondTime: LookAction = {
  text: `look a second time ${describeDuration(BETWEEN_LOOKS_MS)} after the first`,
  decide: ({ payment, times }) => {
    const unusedSeenAt = payment.unusedSeenAt ?? times.now;
    const due = new Date(unusedSeenAt.getTime() + BETWEEN_LOOKS_MS);
    // The time may have come by one clock alone: the look is made again then, and not at once.
    return { kind: 'look_again', at: due > times.now ? due : afterPause(payment, times), unusedSeenAt };
  },
};

const regularly = `${describeDuration(BLOCK_LAG_MS)} after the authorization's end, at the latest in ${describeDuration(WATCH_INTERVAL_MS)}; after that end every ${describeDuration(WATCH_INTERVAL_MS)}`;

export const watchRegularly: LookAction = {
  text: `look again ${regularly}`,
  decide: ({ payment: { validUntil }, times: { now } }) => ({
    kind: 'look_again',
    at: nextWatchTime(now, validUntil),
  }),
};

export const watchUntilReadable: LookAction = {
  text: `look again ${afterSilence}, at the latest at the next regular look`,
  decide: ({ payment, times }) => ({
    kind: 'look_again',
    at: earlier(afterUnreadable(payment, times), nextWatchTime(times.now, payment.validUntil)),
  }),
};

function lookAgainIn(ms: number): LookAction {
  return {
    text: `look again in ${describeDuration(ms)}`,
    decide: ({ times }) => ({ kind: 'look_again', at: inMs(times, ms) }),
  };
}

function fail(code: string, watchAt: Date | undefined): LookStep {
  return { kind: 'fail', code, released: false, watchAt };
}

function codeOf({ failureCode }: LookCase['payment']): string {
  return failureCode ?? 'unexpected_settle_error';
}
