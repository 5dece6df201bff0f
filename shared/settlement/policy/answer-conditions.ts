import type { AnswerCondition } from './answer-case.js';
import type { Condition } from './decision-table.js';
import { describeDuration } from './describe-duration.js';
import { MAX_UNPROCESSED_CALLS, RETRY_MS, SETTLE_MARGIN_MS } from './limits.js';
import { type CalledPayment, isOutcomeUnclear, type Times } from './payment-state.js';
import { lastCallTime } from './settle-times.js';

/** A payment that was taken to be settled. */
export interface CallCase {
  payment: CalledPayment;
  /** Postgres may have forgotten an earlier call for the same payload. */
  commitsMayBeLost: boolean;
  times: Pick<Times, 'now'>;
}

/** The call is counted when the payment is taken, before it is made. */
export const firstCall: Condition<CallCase> = {
  by: 'database',
  text: 'it is the first call',
  holds: ({ payment }) => payment.settleCalls <= 1,
};

export const timeIsLeft: Condition<Pick<CallCase, 'payment' | 'times'>> = {
  by: 'clock',
  text: `at least ${describeDuration(SETTLE_MARGIN_MS)} of the authorization are left`,
  holds: ({ payment, times }) => times.now <= lastCallTime(payment),
};

export const moreTimeIsLeft: Condition<CallCase> = {
  by: 'clock',
  text: `more than ${describeDuration(SETTLE_MARGIN_MS)} of the authorization are left`,
  holds: ({ payment, times }) => times.now < lastCallTime(payment),
};

export const noTimeForAnotherCall: Condition<CallCase> = {
  by: 'clock',
  text: `in ${describeDuration(RETRY_MS)} less than ${describeDuration(SETTLE_MARGIN_MS)} of the authorization are left`,
  holds: ({ payment, times }) => times.now.getTime() + RETRY_MS > lastCallTime(payment).getTime(),
};

export const knownToBeUnclear: Condition<Pick<CallCase, 'payment'>> = {
  by: 'database',
  text: 'the outcome of an earlier call is unclear',
  holds: ({ payment }) => isOutcomeUnclear(payment),
};

export const commitsMayBeLost: Condition<Pick<CallCase, 'commitsMayBeLost'>> = {
  by: 'database',
  text: 'Postgres may have lost commits',
  holds: (one) => one.commitsMayBeLost,
};

export const nothingIsForgotten: Condition<Pick<CallCase, 'commitsMayBeLost'>> = {
  by: 'database',
  text: 'Postgres has surely lost no commits',
  holds: (one) => !one.commitsMayBeLost,
};

export const outcomeUnclear: Condition<Pick<CallCase, 'payment' | 'commitsMayBeLost'>> = {
  by: 'database',
  text: `${knownToBeUnclear.text}, or ${commitsMayBeLost.text}`,
  holds: (one) => knownToBeUnclear.holds(one) || commitsMayBeLost.holds(one),
};

export const unprocessedTooOften: Condition<Pick<CallCase, 'payment'>> = {
  by: 'database',
  text: `${MAX_UNPROCESSED_CALLS} calls were made`,
  holds: ({ payment }) => payment.settleCalls >= MAX_UNPROCESSED_CALLS,
};

export const anotherMayBeAsked: AnswerCondition<'not_processed'> = {
  by: 'facilitator',
  text: 'the call was surely not sent, and another facilitator serves the payment',
  holds: ({ another }) => another !== undefined,
};

export const confirmationsNeeded: AnswerCondition<'settled'> = {
  by: 'operator',
  text: 'confirmations are set for the network',
  holds: ({ settings }) => settings.confirmations > 0,
};

/** Solana's payloads do not name the payer reliably. */
export const namesAnotherPayer: AnswerCondition<'settled'> = {
  by: 'facilitator',
  text: 'it names a payer who did not sign the authorization',
  holds: ({ payment: { network, payer }, answer }) =>
    network.startsWith('eip155:') &&
    payer !== null &&
    answer.payer !== undefined &&
    answer.payer.toLowerCase() !== payer.toLowerCase(),
};

export const codeMayMeanUsed: AnswerCondition<'rejected'> = {
  by: 'facilitator',
  text: 'a used authorization would be refused with the same word',
  holds: ({ answer }) => answer.mayMeanUsed,
};
