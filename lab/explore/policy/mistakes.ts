import { nextWatch } from '../../../shared/settlement/policy/watch.js';
import { POLICY, type Policy } from './policy.js';
import { PLAIN, SETTINGS, type Setting } from './setting.js';

/** Plausible mistakes in the policy. The search must find each in its setting. */
export interface Mistake {
  readonly name: string;
  readonly setting: Setting;
  readonly policy: Policy;
}

const { standsStill, stallsBeforeCall, confirmations, solana, clocks } = SETTINGS;
const { farAhead, unexplained, twoPayments, threePayments } = SETTINGS;

const LONG_AGO = new Date(0);

export const MISTAKES: readonly Mistake[] = [
  mistake('a refusal is believed after an unclear call', PLAIN, {
    afterCall: (payment, ...rest) =>
      POLICY.afterCall({ ...payment, settleUnclear: false, reportedTransaction: null }, ...rest),
  }),
  mistake('a refusal that a used authorization gets too is believed unseen', PLAIN, {
    afterCall: (payment, { answer, ...call }, ...rest) =>
      POLICY.afterCall(
        payment,
        { ...call, answer: answer.kind === 'rejected' ? { ...answer, ifUsedToo: false } : answer },
        ...rest,
      ),
  }),
  mistake('the look before a refusal makes no difference', PLAIN, {
    afterCall: (payment, { look, ...call }, ...rest) =>
      POLICY.afterCall(payment, look ? { ...call, look: { kind: 'unreadable', reason: '' } } : call, ...rest),
  }),
  mistake('an answer that may go on counts as ended', PLAIN, {
    afterCall: (payment, { answer, ...call }, ...rest) =>
      POLICY.afterCall(
        payment,
        { ...call, answer: answer.kind === 'unknown' ? { ...answer, mayGoOn: false } : answer },
        ...rest,
      ),
  }),
  mistake('an unclear answer counts as not processed', PLAIN, {
    afterCall: (payment, { answer, ...call }, ...rest) =>
      POLICY.afterCall(
        payment,
        { ...call, answer: answer.kind === 'unknown' ? { kind: 'not_processed', why: answer.why } : answer },
        ...rest,
      ),
  }),
  mistake('a look counts before the end of the call', PLAIN, {
    afterLook: (payment, ...rest) => POLICY.afterLook({ ...payment, settleEndedAt: LONG_AGO }, ...rest),
  }),
  mistake('a refused payload is released', PLAIN, {
    afterCall: (...call) => {
      const decision = POLICY.afterCall(...call);
      return decision.kind === 'fail' ? { ...decision, released: true, watchAt: undefined } : decision;
    },
  }),
  mistake('a payment that is about to end is given up with an unclear outcome', PLAIN, {
    beforeCall: (payment, times) =>
      POLICY.beforeCall({ ...payment, settleUnclear: false, reportedTransaction: null }, times),
  }),
  mistake('a refused payment is not watched', PLAIN, {
    afterCall: (...call) => {
      const decision = POLICY.afterCall(...call);
      return decision.kind === 'fail' ? { ...decision, watchAt: undefined } : decision;
    },
  }),
  mistake('late money is looked for once', PLAIN, {
    afterLook: (payment, look, ...rest) => {
      const decision = POLICY.afterLook(payment, look, ...rest);
      const isLate = payment.status === 'failed' && decision.kind === 'look_again';
      return isLate ? { kind: 'stop_watching', said: decision.said, row: decision.row } : decision;
    },
  }),
  mistake('an authorization that ended unused is looked at for ever', PLAIN, {
    afterLook: (payment, look, ...rest) => {
      const { finding } = look;
      const believed = finding.kind === 'unused' ? { ...finding, exhausted: false } : finding;
      return POLICY.afterLook(payment, { ...look, finding: believed }, ...rest);
    },
  }),
  mistake('the end counts by our clock, not by that of the chain', standsStill, {
    afterLook: (payment, look, rules, times) => {
      const { finding } = look;
      const believed =
        finding.kind === 'unused' ? { ...finding, exhausted: times.now > payment.validUntil } : finding;
      return POLICY.afterLook(payment, { ...look, finding: believed }, rules, times);
    },
  }),
  mistake('a chain that stands still counts as unreadable', standsStill, {
    afterLook: (payment, look, ...rest) =>
      POLICY.afterLook(
        payment,
        {
          ...look,
          finding: look.finding.kind === 'unreadable' ? { kind: 'unreadable', reason: '' } : look.finding,
        },
        ...rest,
      ),
  }),
  mistake('one unreadable look counts as a minute', PLAIN, {
    afterLook: (payment, ...rest) => POLICY.afterLook({ ...payment, unreadableSince: LONG_AGO }, ...rest),
  }),
  mistake('used, by what is not known, counts as unreadable', PLAIN, {
    afterLook: (payment, look, ...rest) =>
      POLICY.afterLook(
        payment,
        {
          ...look,
          finding: look.finding.kind === 'used' ? { ...look.finding, kind: 'unreadable' } : look.finding,
        },
        ...rest,
      ),
  }),
  mistake('a use is forgotten when the chain is unreadable', PLAIN, {
    afterLook: (payment, ...rest) => POLICY.afterLook({ ...payment, usedSeenAt: null }, ...rest),
  }),
  mistake('used, by what is not known, fails in the end', unexplained, {
    afterLook: (payment, look, rules, times) => {
      const { finding } = look;
      const isOver = finding.kind === 'used' && times.now > payment.validUntil;
      const believed = isOver ? { kind: 'spent_otherwise' as const, transaction: '' } : finding;
      return POLICY.afterLook(payment, { ...look, finding: believed }, rules, times);
    },
  }),
  mistake('a search that was cut short counts as unused', solana, {
    afterLook: (payment, look, rules, times) => {
      const { finding } = look;
      const unused = {
        kind: 'unused' as const,
        chainTime: times.now,
        exhausted: times.now > payment.validUntil,
      };
      const believed = finding.kind === 'searching' ? unused : finding;
      return POLICY.afterLook(payment, { ...look, finding: believed }, rules, times);
    },
  }),
  mistake('the machine’s own clock is not asked', clocks, {
    afterLook: (payment, look, rules, times) =>
      POLICY.afterLook(payment, look, rules, { ...times, own: times.now }),
  }),
  mistake('two looks are one', farAhead, {
    afterLook: (payment, ...rest) => POLICY.afterLook({ ...payment, unusedSeenAt: LONG_AGO }, ...rest),
  }),
  mistake('the first of two looks is never forgotten', farAhead, {
    afterLook: (payment, ...rest) => {
      const decision = POLICY.afterLook(payment, ...rest);
      if (decision.kind !== 'look_again' && decision.kind !== 'settle_again') return decision;
      const unusedSeenAt = payment.unusedSeenAt ?? decision.patch.unusedSeenAt ?? null;
      return { ...decision, patch: { ...decision.patch, unusedSeenAt } };
    },
  }),
  mistake('settled is believed while confirmations are wanted', confirmations, {
    afterCall: (payment, call, rules, times) =>
      POLICY.afterCall(payment, call, { ...rules, confirmations: 0 }, times),
  }),
  mistake('one confirmation is enough', confirmations, {
    afterLook: (payment, look, rules, times) =>
      POLICY.afterLook(payment, look, { ...rules, confirmations: 1 }, times),
  }),
  mistake('a failure by the newest block gets no second look', confirmations, {
    afterLook: (...look) => {
      const decision = POLICY.afterLook(...look);
      return decision.kind === 'fail' ? { ...decision, watchAt: undefined } : decision;
    },
  }),
  mistake('a worker that stood still calls all the same', stallsBeforeCall, { mayStillCall: () => true }),
  mistake('late money completes what another payment holds', twoPayments, {
    afterSuccess: (session, ...rest) => {
      const placed = POLICY.afterSuccess(session, ...rest);
      return placed.kind === 'keep_as_late'
        ? { ...placed, kind: 'complete', surplusPaymentId: null }
        : placed;
    },
  }),
  mistake('the payment that holds the session gives way to late money', twoPayments, {
    afterSuccess: (session, ...rest) => {
      const placed = POLICY.afterSuccess(session, ...rest);
      return placed.kind === 'keep_as_late' ? { ...placed, kind: 'complete_instead' } : placed;
    },
  }),
  mistake('late money that waits is forgotten when the other payment fails', twoPayments, {
    afterFailure: (session, ...rest) => POLICY.afterFailure({ ...session, latePaymentId: null }, ...rest),
  }),
  mistake('late money that waits is forgotten when the other payment succeeds', twoPayments, {
    afterSuccess: (session, ...rest) => POLICY.afterSuccess({ ...session, latePaymentId: null }, ...rest),
  }),
  mistake('of two that come late the second takes the place of the first', threePayments, {
    afterSuccess: (session, ...rest) => {
      const placed = POLICY.afterSuccess(session, ...rest);
      return placed.kind === 'surplus' && session.status === 'processing'
        ? { ...placed, kind: 'keep_as_late' }
        : placed;
    },
  }),
  mistake('an operator’s "failed" is not watched', confirmations, {
    byOperator: (payment, resolution, { now }) => {
      const decision = POLICY.byOperator(payment, resolution, { now });
      const isWatched = nextWatch(now, payment.validUntil, now) !== undefined;
      return decision.kind === 'fail' && isWatched ? { ...decision, watchAt: undefined } : decision;
    },
  }),
];

function mistake(name: string, setting: Setting, part: Partial<Policy>): Mistake {
  return { name, setting, policy: { ...POLICY, ...part } };
}
