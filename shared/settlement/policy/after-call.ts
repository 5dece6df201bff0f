import type { SettleVerdict } from '../../x402/settle-verdict.js';
import type { Answer, AnswerCase, AnswerStep, AnswerTable, Call } from './answer-case.js';
import {
  chainNotAsked,
  chainShowsMore,
  confirmationsNeeded,
  moreTimeIsLeft,
  noTimeForAnotherCall,
  outcomeUnclear,
  saidOfUsedToo,
  unprocessedTooOften,
} from './answer-conditions.js';
import {
  awaitConfirmations,
  callAgain,
  callInTurn,
  doubtFailure,
  doubtRefusal,
  failAsRefused,
  giveUpUnprocessed,
  giveUpUnsent,
  lookFirst,
  lookInstead,
  lookSoon,
  succeedAsReported,
} from './answer-decisions.js';
import { type ByRow, decideByRows } from './decision-table.js';
import type { CalledPayment, Rules, Times } from './payment-state.js';

/** The decision after an answer to `/settle`. */
export const ANSWER: AnswerTable = {
  settled: [
    {
      when: [confirmationsNeeded],
      do: awaitConfirmations,
      because: "The operator wants the chain's proof.",
    },
    { do: succeedAsReported, because: 'The facilitator says so clearly.' },
  ],
  rejected: [
    {
      when: [outcomeUnclear],
      do: doubtFailure,
      because: 'The earlier call may have used the authorization, which makes this one fail.',
    },
    {
      when: [saidOfUsedToo, chainNotAsked],
      do: lookFirst,
      because: 'The authorization may be used by a call that is not known here.',
    },
    { when: [chainShowsMore], do: doubtRefusal, because: 'The money may have moved.' },
    { do: failAsRefused, because: 'The facilitator says so clearly, and nothing speaks against it.' },
  ],
  not_processed: [
    {
      when: [outcomeUnclear],
      do: doubtFailure,
      because: 'This answer tells nothing of the earlier call.',
    },
    {
      when: [unprocessedTooOften],
      do: giveUpUnprocessed,
      because: 'No call had an effect: the buyer may try later.',
    },
    {
      when: [noTimeForAnotherCall],
      do: giveUpUnprocessed,
      because: 'No call had an effect, and it is too late for another.',
    },
    { do: callAgain, because: 'The facilitator surely did nothing.' },
  ],
  postponed: [
    { when: [moreTimeIsLeft], do: callInTurn, because: 'Nothing was sent.' },
    { when: [outcomeUnclear], do: lookInstead, because: 'An earlier call may have moved the money.' },
    { do: giveUpUnsent, because: 'No call had an effect, and it is too late for another.' },
  ],
  unknown: [{ do: lookSoon, because: 'The money may have moved: only the chain can tell.' }],
};

export function afterCall(payment: CalledPayment, call: Call, rules: Rules, times: Times): ByRow<AnswerStep> {
  return stepAfter(call.answer.kind, { ...call, payment, rules, times });
}

function stepAfter<Kind extends SettleVerdict['kind']>(
  kind: Kind,
  one: AnswerCase<Answer<Kind>>,
): ByRow<AnswerStep> {
  return decideByRows(`answer-${kind}`, ANSWER[kind], one);
}
