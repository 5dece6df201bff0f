import type { SettleVerdict } from '../../x402/facilitator/settle-verdict.js';
import type { Answer, AnswerCase } from './answer-case.js';
import type { Decision, Patch } from './decision.js';
import type { Action } from './decision-table.js';
import { describeDuration } from './describe-duration.js';
import { FIRST_CHECK_MS, RETRY_MS, SETTLE_MARGIN_MS } from './limits.js';
import { facilitatorReportedSuccess, unknownAfterUnclear } from './payment-state.js';
import { lastCallTime, surelyOver } from './settle-times.js';
import { nextWatch } from './watch.js';

type AnswerAction<Kind extends SettleVerdict['kind']> = Action<AnswerCase<Answer<Kind>>, Decision>;

export const succeedAsReported: AnswerAction<'settled'> = {
  text: 'succeed',
  decide: ({ answer: { transaction, payer } }) => ({
    kind: 'succeed',
    proof: { transaction, payer, proofIndex: undefined },
    said: { source: 'facilitator', said: `settled in ${transaction}` },
  }),
};

export const awaitConfirmations: AnswerAction<'settled'> = {
  text: 'check the chain now',
  decide: ({ answer: { transaction }, endedAt, times }) => {
    const patch = { settleEndedAt: endedAt, reportedTransaction: transaction, settleUnclear: false };
    return checkAt(times.now, `settled in ${transaction}`, patch);
  },
};

/** The transaction is not recorded: it is another payment's. */
export const doubtSuccess: AnswerAction<'settled'> = {
  text: 'check the chain now; the outcome is unclear',
  decide: ({ answer: { transaction, payer }, endedAt, times }) => {
    const patch = { settleEndedAt: endedAt, settleUnclear: true };
    return checkAt(times.now, `unclear: settled in ${transaction}, paid by ${payer}`, patch);
  },
};

const CHECK_SOON = `check the chain in ${describeDuration(FIRST_CHECK_MS)}`;

export const doubtRefusal: AnswerAction<'rejected'> = {
  text: `${CHECK_SOON}; the outcome is unclear, and the code is recorded`,
  decide: ({ answer: { code, reason }, endedAt, times }) => {
    const patch = { settleEndedAt: endedAt, settleUnclear: true, failureCode: code };
    return checkAt(new Date(times.now.getTime() + FIRST_CHECK_MS), reason, patch);
  },
};

export const failAsRefused: AnswerAction<'rejected'> = {
  text: "fail with the refusal's code; watch for late money",
  decide: (one) => {
    const { now } = one.times;
    const watchAt = nextWatch(now, one.payment.validUntil, now);
    const said = { source: 'facilitator', said: one.answer.reason } as const;
    return { kind: 'fail', code: one.answer.code, released: false, watchAt, said };
  },
};

export const checkSoon: AnswerAction<'unknown'> = {
  text: `${CHECK_SOON}; the outcome is unclear, unless success was reported before`,
  decide: ({ payment, answer: { why, transaction, mayStillRun }, startedAt, endedAt, settings, times }) =>
    checkAt(new Date(times.now.getTime() + FIRST_CHECK_MS), `unclear: ${why}`, {
      settleEndedAt: mayStillRun ? surelyOver(startedAt, settings) : endedAt,
      settleUnclear: !facilitatorReportedSuccess(payment),
      ...(transaction !== undefined && { reportedTransaction: transaction }),
    }),
};

export const doubtFailure: AnswerAction<'rejected' | 'not_processed'> = {
  text: checkSoon.text,
  decide: (one) => checkSoon.decide({ ...one, answer: unknownAfterUnclear(one.answer) }),
};

export const GIVE_UP = 'fail with `payment_service_unavailable`; the payload may be sent again';

export const GIVEN_UP = {
  kind: 'fail',
  code: 'payment_service_unavailable',
  released: true,
  watchAt: undefined,
} as const;

export const callAgain: AnswerAction<'not_processed'> = {
  text: `call again after ${describeDuration(RETRY_MS)} for each call so far`,
  decide: ({ payment, answer, times: { now } }) => ({
    kind: 'settle_again',
    at: new Date(now.getTime() + RETRY_MS * payment.settleCalls),
    patch: { settleEndedAt: now },
    said: notProcessed(answer),
  }),
};

export const callAnother: AnswerAction<'not_processed'> = {
  text: 'call the other facilitator now; the payment is its own from now on',
  decide: ({ answer, another, times: { now } }) => {
    if (another === undefined) throw new Error('no other facilitator serves the payment');
    return {
      kind: 'settle_again',
      at: now,
      patch: { settleEndedAt: now, facilitator: another },
      said: notProcessed(answer),
    };
  },
};

export const giveUpUnprocessed: AnswerAction<'not_processed'> = {
  text: GIVE_UP,
  decide: ({ answer }) => ({ said: notProcessed(answer), ...GIVEN_UP }),
};

function notProcessed({ why }: Answer<'not_processed'>): Decision['said'] {
  return { source: 'facilitator', said: `not processed: ${why}` };
}

export const callInTurn: AnswerAction<'postponed'> = {
  text: `call when its turn comes, at the latest ${describeDuration(SETTLE_MARGIN_MS)} before the authorization's end; this call does not count`,
  decide: ({ payment, answer, times: { now } }) => ({
    kind: 'settle_again',
    at: new Date(Math.min(now.getTime() + answer.forMs, lastCallTime(payment).getTime())),
    patch: { settleEndedAt: now },
    notSent: true,
    said: notSent(answer),
  }),
};

export const checkInstead: AnswerAction<'postponed'> = {
  text: 'check the chain now',
  decide: ({ answer, times: { now } }) => ({
    kind: 'check_again',
    at: now,
    patch: { settleEndedAt: now },
    said: notSent(answer),
  }),
};

export const giveUpUnsent: AnswerAction<'postponed'> = {
  text: GIVE_UP,
  decide: ({ answer }) => ({ said: notSent(answer), ...GIVEN_UP }),
};

function notSent({ why }: Answer<'postponed'>): Decision['said'] {
  return { source: 'service', said: `not sent yet: ${why}` };
}

function checkAt(at: Date, said: string, patch: Patch): Decision {
  return { kind: 'check_again', at, patch, said: { source: 'facilitator', said } };
}
