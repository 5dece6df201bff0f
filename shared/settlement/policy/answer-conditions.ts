import type { AnswerCondition } from './answer-case.js';
import type { Condition } from './decision-table.js';
import { describeDuration } from './describe-duration.js';
import { MAX_UNPROCESSED_CALLS, RETRY_MS, SETTLE_MARGIN_MS } from './limits.js';
import { type CalledPayment, isOutcomeUnclear, type Times } from './payment-state.js';
import { lastCallTime } from './settle-times.js';

export interface TakenPayment {
  payment: CalledPayment;
  times: Pick<Times, 'now'>;
}

/** The call is counted when the payment is taken, before it is made. */
export const firstCall: Condition<TakenPayment> = {
  text: 'it is the first call',
  holds: ({ payment }) => payment.settleCalls <= 1,
};

export const timeIsLeft: Condition<TakenPayment> = {
  text: `at least ${describeDuration(SETTLE_MARGIN_MS)} of the authorization are left`,
  holds: ({ payment, times }) => times.now <= lastCallTime(payment),
};

export const moreTimeIsLeft: Condition<TakenPayment> = {
  text: `more than ${describeDuration(SETTLE_MARGIN_MS)} of the authorization are left`,
  holds: ({ payment, times }) => times.now < lastCallTime(payment),
};

export const noTimeForAnotherCall: Condition<TakenPayment> = {
  text: `in ${describeDuration(RETRY_MS)} less than ${describeDuration(SETTLE_MARGIN_MS)} of the authorization are left`,
  holds: ({ payment, times }) => times.now.getTime() + RETRY_MS > lastCallTime(payment).getTime(),
};

export const outcomeUnclear: Condition<Pick<TakenPayment, 'payment'>> = {
  text: 'the outcome of an earlier call is unclear',
  holds: ({ payment }) => isOutcomeUnclear(payment),
};

export const unprocessedTooOften: Condition<Pick<TakenPayment, 'payment'>> = {
  text: `${MAX_UNPROCESSED_CALLS} calls were made`,
  holds: ({ payment }) => payment.settleCalls >= MAX_UNPROCESSED_CALLS,
};

export const confirmationsNeeded: AnswerCondition<'settled'> = {
  text: 'confirmations are set for the network',
  holds: ({ rules }) => rules.confirmations > 0,
};

export const saidOfUsedToo: AnswerCondition<'rejected'> = {
  text: 'a used authorization would be refused with the same code',
  holds: ({ answer }) => answer.ifUsedToo,
};

export const chainNotAsked: AnswerCondition<'rejected'> = {
  text: 'the chain was not asked',
  holds: ({ look }) => look === undefined,
};

/** An unreadable chain does not hold the buyer up. */
export const chainShowsMore: AnswerCondition<'rejected'> = {
  text: 'the chain was asked, and says neither `unused` nor `unreadable`',
  holds: ({ look }) => look !== undefined && look.kind !== 'unused' && look.kind !== 'unreadable',
};
