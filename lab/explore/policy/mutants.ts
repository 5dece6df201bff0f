import type { ChainFinding } from '../../../shared/chains/check/finding.js';
import { nextWatch } from '../../../shared/settlement/policy/watch.js';
import type { SettleVerdict } from '../../../shared/x402/facilitator/settle-verdict.js';
import { POLICY, type Policy } from './setting/policy.js';
import { PLAIN, SETTINGS, type Setting } from './setting/setting.js';

/** A mutant of the policy, with a setting in which the explorer must find it. */
export interface Mutant {
  readonly name: string;
  readonly setting: Setting;
  readonly policy: Policy;
}

const { standsStill, stallsBeforeCall, confirmations, solana, clocks, forgets } = SETTINGS;
const { farAhead, unexplained, twoPayments, threePayments } = SETTINGS;

const LONG_AGO = new Date(0);

export const MUTANTS: readonly Mutant[] = [
  mutant('a refusal is believed after an unclear call', PLAIN, {
    afterCall: (payment, ...rest) =>
      POLICY.afterCall({ ...payment, settleUnclear: false, reportedTransaction: null }, ...rest),
  }),
  mutant(
    'a refusal that a used authorization also gets is believed without a chain check',
    PLAIN,
    answering((answer) => (answer.kind === 'rejected' ? { ...answer, mayMeanUsed: false } : answer)),
  ),
  mutant('a refusal is believed although Postgres may have forgotten a call', forgets, {
    afterCall: (payment, call, ...rest) =>
      POLICY.afterCall(payment, { ...call, commitsMayBeLost: false }, ...rest),
  }),
  mutant('a success is believed that another payer made', PLAIN, {
    afterCall: (payment, ...rest) => POLICY.afterCall({ ...payment, payer: null }, ...rest),
  }),
  mutant('a recorded refusal outlives the next call', PLAIN, {
    afterCheck: (...check) => {
      const decision = POLICY.afterCheck(...check);
      if (decision.kind !== 'settle_again') return decision;
      const { failureCode: _, ...patch } = decision.patch;
      return { ...decision, patch };
    },
  }),
  mutant('an unknown outcome is said to be certain', farAhead, {
    afterCheck: (...check) => {
      const decision = POLICY.afterCheck(...check);
      return decision.kind === 'fail' ? { ...decision, code: 'unexpected_settle_error' } : decision;
    },
  }),
  mutant(
    'an answer whose call may continue counts as ended',
    PLAIN,
    answering((answer) => (answer.kind === 'unknown' ? { ...answer, mayStillRun: false } : answer)),
  ),
  mutant(
    'an unclear answer counts as not processed',
    PLAIN,
    answering((answer) => (answer.kind === 'unknown' ? { kind: 'not_processed', why: answer.why } : answer)),
  ),
  mutant('a chain check counts before the end of the call', PLAIN, {
    afterCheck: (payment, ...rest) => POLICY.afterCheck({ ...payment, settleEndedAt: LONG_AGO }, ...rest),
  }),
  mutant('a refused payload is released', PLAIN, {
    afterCall: (...call) => {
      const decision = POLICY.afterCall(...call);
      return decision.kind === 'fail' ? { ...decision, released: true, watchAt: undefined } : decision;
    },
  }),
  mutant('a payment with an unclear outcome is given up before its end', PLAIN, {
    beforeCall: (payment, ...rest) =>
      POLICY.beforeCall({ ...payment, settleUnclear: false, reportedTransaction: null }, ...rest),
  }),
  mutant('a refused payment is not watched', PLAIN, {
    afterCall: (...call) => {
      const decision = POLICY.afterCall(...call);
      return decision.kind === 'fail' ? { ...decision, watchAt: undefined } : decision;
    },
  }),
  mutant('late money is checked for only once', PLAIN, {
    afterCheck: (payment, check, ...rest) => {
      const decision = POLICY.afterCheck(payment, check, ...rest);
      const isLate = payment.status === 'failed' && decision.kind === 'check_again';
      return isLate ? { kind: 'stop_watching', said: decision.said, row: decision.row } : decision;
    },
  }),
  mutant(
    'an expired unused authorization is checked for ever',
    PLAIN,
    seeing((finding) => (finding.kind === 'unused' ? { ...finding, exhausted: false } : finding)),
  ),
  mutant(
    'the end counts by the own clock, not by the chain’s',
    standsStill,
    seeing((finding, { isOver }) =>
      finding.kind === 'unused' ? { ...finding, exhausted: isOver } : finding,
    ),
  ),
  mutant(
    'a halted chain counts as a silent one',
    standsStill,
    seeing((finding) => (finding.kind === 'unreadable' ? { kind: 'unreadable', reason: '' } : finding)),
  ),
  mutant('one unreadable chain check counts as a long silence', PLAIN, {
    afterCheck: (payment, ...rest) => POLICY.afterCheck({ ...payment, unreadableSince: LONG_AGO }, ...rest),
  }),
  mutant(
    'used by an unknown transaction counts as unreadable',
    PLAIN,
    seeing((finding) => (finding.kind === 'used' ? { ...finding, kind: 'unreadable' } : finding)),
  ),
  mutant('a use is forgotten when the chain becomes unreadable', PLAIN, {
    afterCheck: (payment, ...rest) => POLICY.afterCheck({ ...payment, usedSeenAt: null }, ...rest),
  }),
  mutant(
    'used by an unknown transaction fails in the end',
    unexplained,
    seeing((finding, { isOver }) =>
      finding.kind === 'used' && isOver ? { kind: 'spent_otherwise', transaction: '' } : finding,
    ),
  ),
  mutant(
    'an incomplete search counts as unused',
    solana,
    seeing((finding, { now, isOver }) =>
      finding.kind === 'searching' ? { kind: 'unused', chainTime: now, exhausted: isOver } : finding,
    ),
  ),
  mutant('the machine’s own clock is ignored', clocks, {
    afterCheck: (payment, check, settings, times) =>
      POLICY.afterCheck(payment, check, settings, { ...times, own: times.now }),
  }),
  mutant('one chain check counts as two', farAhead, {
    afterCheck: (payment, ...rest) => POLICY.afterCheck({ ...payment, unusedSeenAt: LONG_AGO }, ...rest),
  }),
  mutant('the first of two chain checks is never reset', farAhead, {
    afterCheck: (payment, ...rest) => {
      const decision = POLICY.afterCheck(payment, ...rest);
      if (decision.kind !== 'check_again' && decision.kind !== 'settle_again') return decision;
      const unusedSeenAt = payment.unusedSeenAt ?? decision.patch.unusedSeenAt ?? null;
      return { ...decision, patch: { ...decision.patch, unusedSeenAt } };
    },
  }),
  mutant('settled is believed while confirmations are wanted', confirmations, {
    afterCall: (payment, call, settings, times) =>
      POLICY.afterCall(payment, call, { ...settings, confirmations: 0 }, times),
  }),
  mutant('one confirmation is enough', confirmations, {
    afterCheck: (payment, check, settings, times) =>
      POLICY.afterCheck(payment, check, { ...settings, confirmations: 1 }, times),
  }),
  mutant('a proof in the newest block is not checked again', confirmations, {
    afterCheck: (...check) => {
      const decision = POLICY.afterCheck(...check);
      return decision.kind === 'fail' ? { ...decision, watchAt: undefined } : decision;
    },
  }),
  mutant('a worker that stalled calls all the same', stallsBeforeCall, { mayStillCall: () => true }),
  mutant('late money completes a session that another payment holds', twoPayments, {
    afterSuccess: (one) => {
      const placed = POLICY.afterSuccess(one);
      return placed.kind === 'keep_as_late'
        ? { ...placed, kind: 'complete', surplusPaymentId: null }
        : placed;
    },
  }),
  mutant('the payment that holds the session gives way to late money', twoPayments, {
    afterSuccess: (one) => {
      const placed = POLICY.afterSuccess(one);
      return placed.kind === 'keep_as_late' ? { ...placed, kind: 'complete_instead' } : placed;
    },
  }),
  mutant('late money that waits is forgotten when the other payment fails', twoPayments, {
    afterFailure: (session, ...rest) => POLICY.afterFailure({ ...session, latePaymentId: null }, ...rest),
  }),
  mutant('late money that waits is forgotten when the other payment succeeds', twoPayments, {
    afterSuccess: (one) => POLICY.afterSuccess({ ...one, session: { ...one.session, latePaymentId: null } }),
  }),
  mutant('a second late payment replaces the first', threePayments, {
    afterSuccess: (one) => {
      const placed = POLICY.afterSuccess(one);
      return placed.kind === 'surplus' && one.session.status === 'processing'
        ? { ...placed, kind: 'keep_as_late' }
        : placed;
    },
  }),
  mutant('an operator’s "failed" is not watched', confirmations, {
    byOperator: (payment, resolution, { now }) => {
      const decision = POLICY.byOperator(payment, resolution, { now });
      const isWatched = nextWatch(now, payment.validUntil, now) !== undefined;
      return decision.kind === 'fail' && isWatched ? { ...decision, watchAt: undefined } : decision;
    },
  }),
];

function mutant(name: string, setting: Setting, part: Partial<Policy>): Mutant {
  return { name, setting, policy: { ...POLICY, ...part } };
}

/** Each answer is changed before the policy decides about its call. */
function answering(change: (answer: SettleVerdict) => SettleVerdict): Partial<Policy> {
  return {
    afterCall: (payment, call, ...rest) =>
      POLICY.afterCall(payment, { ...call, answer: change(call.answer) }, ...rest),
  };
}

/** Each finding is changed before the policy decides about its chain check. `isOver`: the payload has expired. */
function seeing(
  change: (finding: ChainFinding, at: { now: Date; isOver: boolean }) => ChainFinding,
): Partial<Policy> {
  return {
    afterCheck: (payment, check, settings, times) => {
      const at = { now: times.now, isOver: times.now > payment.validUntil };
      return POLICY.afterCheck(payment, { ...check, finding: change(check.finding, at) }, settings, times);
    },
  };
}
