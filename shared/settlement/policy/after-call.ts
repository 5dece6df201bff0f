import type { SettleVerdict } from '../../x402/facilitator/settle-verdict.js';
import type { Answer, AnswerCase, AnswerTable, Call } from './answer-case.js';
import {
  anotherMayBeAsked,
  codeMayMeanUsed,
  commitsMayBeLost,
  confirmationsNeeded,
  knownToBeUnclear,
  moreTimeIsLeft,
  namesAnotherPayer,
  noTimeForAnotherCall,
  outcomeUnclear,
  unprocessedTooOften,
} from './answer-conditions.js';
import {
  awaitConfirmations,
  callAgain,
  callAnother,
  callInTurn,
  checkInstead,
  checkSoon,
  doubtFailure,
  doubtRefusal,
  doubtSuccess,
  failAsRefused,
  giveUpUnprocessed,
  giveUpUnsent,
  succeedAsReported,
} from './answer-decisions.js';
import type { Decision } from './decision.js';
import { type ByRow, decideByRows } from './decision-table.js';
import { provesAnother } from './describe-finding.js';
import type { CalledPayment, Settings, Times } from './payment-state.js';

/** The decision after an answer to `/settle`. */
export const ANSWER: AnswerTable = {
  settled: [
    {
      when: [namesAnotherPayer],
      do: doubtSuccess,
      because: "The transaction that it names is not this payment's.",
    },
    {
      when: [confirmationsNeeded],
      do: awaitConfirmations,
      because: "The operator wants the chain's proof.",
    },
    { do: succeedAsReported, certain: 'paid', because: 'The facilitator says so clearly.' },
  ],
  rejected: [
    {
      when: [knownToBeUnclear],
      do: doubtFailure,
      because: 'The earlier call may have used the authorization, which makes this one fail.',
    },
    {
      when: [codeMayMeanUsed],
      do: doubtRefusal,
      because: 'The authorization may be used by a call that is not known here.',
    },
    {
      when: [commitsMayBeLost],
      do: doubtRefusal,
      because: 'Postgres may have forgotten a call that used the authorization.',
    },
    { do: failAsRefused, certain: 'unsent', because: 'The facilitator says so before it sends anything.' },
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
      certain: 'unsent',
      because: 'No call had an effect: the buyer may try later.',
    },
    {
      when: [noTimeForAnotherCall],
      do: giveUpUnprocessed,
      certain: 'unsent',
      because: 'No call had an effect, and it is too late for another.',
    },
    {
      when: [anotherMayBeAsked],
      do: callAnother,
      certain: 'unsent',
      because: 'This call has reached nobody, and no earlier one had an effect.',
    },
    { do: callAgain, certain: 'unsent', because: 'The facilitator surely did nothing.' },
  ],
  postponed: [
    { when: [moreTimeIsLeft], do: callInTurn, because: 'Nothing was sent.' },
    { when: [outcomeUnclear], do: checkInstead, because: 'An earlier call may have moved the money.' },
    {
      do: giveUpUnsent,
      certain: 'unsent',
      because: 'No call had an effect, and it is too late for another.',
    },
  ],
  unknown: [{ do: checkSoon, because: 'The money may have moved: only the chain can tell.' }],
};

export function afterCall(
  payment: CalledPayment,
  call: Call,
  settings: Settings,
  times: Times,
): ByRow<Decision> {
  return stepAfter(call.answer.kind, { payment, settings, times, ...call });
}

/** The facilitator named a transaction that another payment has. It is not recorded for this one. */
export function afterNamedTwice(transaction: string, { endedAt }: Call, { now }: Times): Decision {
  const patch = { settleEndedAt: endedAt, settleUnclear: true };
  return { kind: 'check_again', at: now, patch, said: provesAnother(transaction) };
}

function stepAfter<Kind extends SettleVerdict['kind']>(
  kind: Kind,
  one: AnswerCase<Answer<Kind>>,
): ByRow<Decision> {
  return decideByRows(`answer-${kind}`, ANSWER[kind], one);
}
