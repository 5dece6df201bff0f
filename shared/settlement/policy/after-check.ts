import type { ChainFinding, Finding } from '../../chains/check/finding.js';
import { nothingIsForgotten } from './answer-conditions.js';
import type { CheckCase, CheckStep, CheckTable } from './check-case.js';
import {
  blockIsLateEnough,
  blockIsNotAhead,
  blockIsTooEarly,
  canNeverBeUsed,
  chainStandsStill,
  endIsFarAhead,
  enoughConfirmations,
  hadNoTurn,
  longestWaitIsOver,
  maySettleAgain,
  openForLong,
  refusalIsRecorded,
  searchHasAdvanced,
  searchHasStopped,
  secondCheckNotDue,
  seenUsedBefore,
  successWasReported,
  unreadableForLong,
  verifyNotAsked,
  verifySaysValid,
  waitIsOver,
  watchIsOver,
  watchIsOverOnChain,
} from './check-conditions.js';
import {
  askVerify,
  awaitConfirmations,
  awaitLateUse,
  checkAgain,
  checkASecondTime,
  continueSearch,
  failAsExpired,
  failAsRefused,
  failAsSpent,
  giveUpUnreadable,
  giveUpUnused,
  settleAgain,
  stopWatching,
  succeed,
  watchRegularly,
  watchUntilReadable,
} from './check-decisions.js';
import { afterPause, isTooEarly } from './check-times.js';
import type { Decision, Patch } from './decision.js';
import { type ByRow, decideByRows } from './decision-table.js';
import { describeFinding, provesAnother } from './describe-finding.js';
import type { Settings, Times, WatchedPayment } from './payment-state.js';

const PAID: CheckTable['paid'] = [
  { when: [enoughConfirmations], do: succeed, certain: 'paid', because: 'The transfer is proof.' },
  { do: awaitConfirmations, because: 'The block may still be replaced.' },
];

/** The decision after a chain check of a payment in processing. */
export const CHECK: CheckTable = {
  paid: PAID,
  pending: [{ do: awaitConfirmations, because: 'The transaction may still be dropped.' }],
  spent_otherwise: [
    { do: failAsSpent, certain: 'unpayable', because: 'The authorization can never pay any more.' },
  ],
  unused: [
    {
      when: [blockIsTooEarly],
      do: checkAgain,
      because: 'The use may be in a later block.',
    },
    {
      when: [canNeverBeUsed],
      do: failAsExpired,
      certain: 'unpayable',
      because: 'The authorization can never pay any more.',
    },
    {
      when: [refusalIsRecorded, blockIsNotAhead, nothingIsForgotten],
      do: failAsRefused,
      certain: 'unsent',
      because: 'The facilitator has sent nothing, and nobody else has used the authorization.',
    },
    {
      when: [endIsFarAhead, longestWaitIsOver, secondCheckNotDue],
      do: checkASecondTime,
      certain: 'unused',
      because: 'One check alone may have met a node that is behind.',
    },
    {
      when: [endIsFarAhead, longestWaitIsOver],
      do: giveUpUnused,
      certain: 'unused',
      because:
        'Two checks saw it unused long after the last call. Its end is too far ahead to wait for, and until then it can be used.',
    },
    {
      when: maySettleAgain,
      do: settleAgain,
      certain: 'unused',
      because: 'No call has used the authorization.',
    },
    { do: checkAgain, certain: 'unused', because: 'Until its end a transaction with it may still come.' },
  ],
  used: [
    { when: [searchHasAdvanced], do: continueSearch, because: 'The search is not over.' },
    { do: checkAgain, because: 'The use may have paid the merchant: no time makes it a failure.' },
  ],
  searching: [
    {
      when: [...maySettleAgain, verifyNotAsked],
      do: askVerify,
      because: '`/verify` can tell that the authorization is unused.',
    },
    {
      when: [...maySettleAgain, verifySaysValid],
      do: settleAgain,
      certain: 'unused',
      because: 'No call has used the authorization.',
    },
    { when: [searchHasAdvanced], do: continueSearch, because: 'The search is not over.' },
    { do: checkAgain, because: 'A search that has not ended proves nothing.' },
  ],
  unreadable: [
    { when: [hadNoTurn], do: checkAgain, because: 'The check is not over.' },
    { when: [chainStandsStill], do: checkAgain, because: 'No time has passed on that chain.' },
    {
      when: [successWasReported],
      do: checkAgain,
      because: 'A reported success never fails without a finding of the chain.',
    },
    {
      when: [seenUsedBefore],
      do: checkAgain,
      because: 'The use may have paid the merchant: no time makes it a failure.',
    },
    {
      when: [waitIsOver, unreadableForLong],
      do: giveUpUnreadable,
      because: 'Nobody knows whether the money has moved, and a buyer cannot wait for ever.',
    },
    {
      when: [...maySettleAgain, verifyNotAsked],
      do: askVerify,
      because: '`/verify` can tell that the authorization is unused.',
    },
    {
      when: [...maySettleAgain, verifySaysValid],
      do: settleAgain,
      certain: 'unused',
      because: 'No call has used the authorization.',
    },
    { do: checkAgain, because: 'That the chain could not be read says nothing about the money.' },
  ],
};

/** The decision after a check for late money: the payment failed before its authorization was surely over. */
export const LATE_CHECK: CheckTable = {
  paid: PAID,
  pending: [
    { when: [watchIsOver, openForLong], do: stopWatching, because: 'The watch ends.' },
    { do: awaitLateUse, because: 'Its transfer may be proof soon.' },
  ],
  spent_otherwise: [
    { do: stopWatching, certain: 'unpayable', because: 'The authorization can never pay any more.' },
  ],
  unused: [
    {
      when: [canNeverBeUsed, blockIsLateEnough],
      do: stopWatching,
      certain: 'unpayable',
      because: 'The authorization can never pay any more.',
    },
    { when: [watchIsOver, watchIsOverOnChain], do: stopWatching, because: 'The watch ends.' },
    { do: watchRegularly, because: 'Until its end a transaction with it may still come.' },
  ],
  used: [
    { when: [watchIsOver, openForLong], do: stopWatching, because: 'The watch ends.' },
    { do: awaitLateUse, because: 'Its transfer may be found soon.' },
  ],
  searching: [
    { when: [watchIsOver, searchHasStopped, openForLong], do: stopWatching, because: 'The watch ends.' },
    { when: [searchHasAdvanced], do: continueSearch, because: 'The search is not over.' },
    { do: checkAgain, because: 'A search that has not ended proves nothing.' },
  ],
  unreadable: [
    { when: [watchIsOver, openForLong], do: stopWatching, because: 'The watch ends.' },
    {
      do: watchUntilReadable,
      because: 'Money that came late is to be found soon after the chain is back.',
    },
  ],
};

/** One chain check of a payment, and the answer of `/verify` when it was asked. */
type Check = Pick<CheckCase, 'finding' | 'isValid' | 'commitsMayBeLost'>;

export function afterCheck(
  payment: WatchedPayment,
  check: Check,
  settings: Settings,
  times: Times,
): ByRow<Decision | { kind: 'ask_verify' }> {
  const { finding } = check;
  const patch = patchAfter(payment, finding, times, settings);
  const step = stepAfter(finding.kind, { payment, settings, times, ...check });
  if (step.kind === 'ask_verify') return step;
  const said = { source: 'chain', said: describeFinding(finding) } as const;
  if (step.kind !== 'check_again' && step.kind !== 'settle_again') return { said, ...step };
  const { kind, at, row, certain } = step;
  const unusedSeenAt = ('unusedSeenAt' in step && step.unusedSeenAt) || null;
  const patched = { unusedSeenAt, ...patch };
  // A recorded code is that of the last call.
  const next = kind === 'settle_again' ? { failureCode: null, ...patched } : patched;
  return certain === undefined
    ? { kind, at, patch: next, said, row }
    : { kind, at, patch: next, said, row, certain };
}

/** Payments' histories store the names of rows, so the rows of a payment in processing keep an older word, `look`. */
function stepAfter<Kind extends ChainFinding['kind']>(
  kind: Kind,
  check: CheckCase<Finding<Kind>>,
): ByRow<CheckStep> {
  return check.payment.status === 'failed'
    ? decideByRows(`late-${kind}`, LATE_CHECK[kind], check)
    : decideByRows(`look-${kind}`, CHECK[kind], check);
}

/** The transfer proves another payment already: the transfer of this one is still to be found. */
export function afterProofTaken(payment: WatchedPayment, transaction: string, times: Times): Decision {
  const patch = { unusedSeenAt: null, unreadableSince: null, searchPlace: null, usedSeenAt: null };
  return { kind: 'check_again', at: afterPause(payment, times), patch, said: provesAnother(transaction) };
}

/** A check that shows nothing of the authorization leaves what earlier checks found as it is. */
function patchAfter(payment: WatchedPayment, finding: ChainFinding, times: Times, settings: Settings): Patch {
  const { searchPlace } = payment;
  const usedSeenAt = usedSeenAfter(payment, finding, times, settings);
  const unreadableSince = unreadableSinceAfter(payment, finding, times);
  if (finding.kind === 'pending' || finding.kind === 'unreadable')
    return { unreadableSince, searchPlace, usedSeenAt };
  const position = ('position' in finding && finding.position) || null;
  return { unreadableSince, searchPlace: position, usedSeenAt };
}

/** The first of the checks in a row that could read nothing; of a failed payment, of those that have left it open. */
function unreadableSinceAfter(
  { status, unreadableSince }: WatchedPayment,
  finding: ChainFinding,
  { now }: Times,
): Date | null {
  switch (finding.kind) {
    case 'unreadable':
      return finding.againInMs === undefined ? (unreadableSince ?? now) : unreadableSince;
    case 'pending':
    case 'used':
    case 'searching':
      return status === 'failed' ? (unreadableSince ?? now) : null;
    default:
      return null;
  }
}

/** The first check that saw a use, until a later block lacks it: a node that is behind lacks it too. */
function usedSeenAfter(
  payment: WatchedPayment,
  finding: ChainFinding,
  { now }: Times,
  settings: Settings,
): Date | null {
  switch (finding.kind) {
    case 'used':
    case 'pending':
    case 'paid':
      return payment.usedSeenAt ?? now;
    case 'unused':
      return isTooEarly(finding.chainTime, payment, settings) ? payment.usedSeenAt : null;
    default:
      return payment.usedSeenAt;
  }
}
