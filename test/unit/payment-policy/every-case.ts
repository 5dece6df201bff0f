import type { ChainFinding, Finding } from '../../../shared/chains/check/finding.js';
import type { Answer, AnswerCase } from '../../../shared/settlement/policy/answer-case.js';
import type { CallCase } from '../../../shared/settlement/policy/answer-conditions.js';
import type { CheckCase } from '../../../shared/settlement/policy/check-case.js';
import type { CalledPayment, WatchedPayment } from '../../../shared/settlement/policy/payment-state.js';
import type {
  FailureCase,
  HeldSession,
  HoldingPayment,
  SuccessCase,
} from '../../../shared/settlement/policy/session-after.js';
import type { SettleVerdict } from '../../../shared/x402/facilitator/settle-verdict.js';
import { aPayment, at, NOW, SETTINGS, times } from './a-payment.js';
import { DAY, HASH, HOUR, MINUTE, paid, unused } from './check-rows.js';

/** Each property with all the values that a condition tells apart: on each limit, and beside it. */
type Values<T> = { readonly [Name in keyof T]: readonly T[Name][] };

function everyOf<T>(values: Values<T>): T[] {
  let all: Partial<T>[] = [{}];
  for (const name in values)
    all = all.flatMap((one) => values[name].map((value) => ({ ...one, [name]: value })));
  return all.filter((one): one is T => Object.keys(values).every((name) => name in one));
}

const PROCESSING: WatchedPayment[] = everyOf<Partial<WatchedPayment>>({
  validUntil: [-MINUTE, 0, 9999, 10_000, 12 * HOUR].map(at),
  settleEndedAt: [null, ...[-15 * MINUTE, -15 * MINUTE + 1, -29_999, 1].map(at)],
  // Late enough for the longest pause.
  attempt: [12],
  settleCalls: [5, 6],
  settleUnclear: [true, false],
  reportedTransaction: [null, HASH],
  unusedSeenAt: [null, at(-14_999), at(-15_000)],
  unreadableSince: [null, at(-DAY + 1), at(-DAY)],
  searchPlace: [null, { block: 1 }],
  usedSeenAt: [null, at(-5000)],
  failureCode: [null, 'insufficient_funds'],
}).map((state) => aPayment(state));

const FAILED: WatchedPayment[] = everyOf<Partial<WatchedPayment>>({
  status: ['failed'],
  validUntil: [-2 * MINUTE, -MINUTE, 0, 9999, 12 * HOUR].map(at),
  settleEndedAt: [at(-15 * MINUTE), at(0)],
  failedAt: [null, at(-HOUR), at(-7 * DAY + HOUR), at(-7 * DAY + HOUR - 1)],
  unreadableSince: [null, ...[-59_999, -60_000, -DAY + 1, -DAY].map(at)],
  searchPlace: [null, { block: 1 }],
  usedSeenAt: [null, at(-5000)],
}).map((state) => aPayment(state));

const reason = 'HTTP 500';

const FINDINGS: { readonly [Kind in ChainFinding['kind']]: readonly Finding<Kind>[] } = {
  paid: [paid(0), paid(1), paid(2)],
  unused: [unused(-16 * MINUTE), unused(-15 * MINUTE + 1), unused(0), unused(30_001), unused(0, true)],
  spent_otherwise: [{ kind: 'spent_otherwise', transaction: HASH }],
  pending: [{ kind: 'pending', transaction: HASH }],
  used: [
    { kind: 'used', reason },
    { kind: 'used', reason, position: { block: 1 } },
  ],
  searching: [
    { kind: 'searching', reason },
    { kind: 'searching', reason, position: { block: 1 } },
  ],
  unreadable: [
    { kind: 'unreadable', reason },
    { kind: 'unreadable', reason, againInMs: 500 },
    { kind: 'unreadable', reason, chainTime: at(-2 * MINUTE) },
    { kind: 'unreadable', reason, chainTime: at(0) },
  ],
};

/**
 * Every check with such a finding, at a payment in processing or at one that has failed. They are up to 345,600, and are
 * made one by one: an array of them takes more time to keep than to read.
 */
export function* checks<Kind extends ChainFinding['kind']>(
  kind: Kind,
  status: 'processing' | 'failed',
): Generator<CheckCase<Finding<Kind>>> {
  const verifications = [{}, { isValid: true }, { isValid: false }];
  const clocks = [times(0, 0), times(0, -1)];
  for (const payment of status === 'failed' ? FAILED : PROCESSING)
    for (const finding of FINDINGS[kind])
      for (const verified of verifications)
        for (const [index, times] of clocks.entries())
          yield {
            payment,
            finding,
            ...verified,
            commitsMayBeLost: index > 0 && finding.kind !== 'unreadable',
            settings: SETTINGS,
            times,
          };
}

const ANSWERS: { readonly [Kind in SettleVerdict['kind']]: readonly Answer<Kind>[] } = {
  settled: [undefined, '0xPAYER', '0xanother'].map((payer) => ({
    kind: 'settled',
    transaction: HASH,
    payer,
  })),
  rejected: [true, false].map((mayMeanUsed) => ({
    kind: 'rejected',
    code: 'insufficient_funds',
    reason,
    mayMeanUsed,
  })),
  not_processed: [{ kind: 'not_processed', why: reason }],
  postponed: [{ kind: 'postponed', why: reason, forMs: 2500 }],
  unknown: [true, false].map((mayStillRun) => ({
    kind: 'unknown',
    why: reason,
    transaction: undefined,
    mayStillRun,
  })),
};

const CALLED: CalledPayment[] = everyOf<Partial<WatchedPayment>>({
  validUntil: [9999, 10_000, 10_001, 10_999, 11_000, MINUTE].map(at),
  settleCalls: [1, 2, 3],
  settleUnclear: [true, false],
  reportedTransaction: [null, HASH],
}).map((state) => aPayment(state));

/** Every call with such an answer. */
export function answers<Kind extends SettleVerdict['kind']>(kind: Kind): AnswerCase<Answer<Kind>>[] {
  return CALLED.flatMap((payment) =>
    ANSWERS[kind].flatMap((answer) =>
      [false, true].flatMap((commitsMayBeLost) =>
        [0, 1].map((confirmations) => ({
          payment,
          answer,
          commitsMayBeLost,
          another: confirmations === 0 ? 'another.example' : undefined,
          startedAt: at(-300),
          endedAt: at(-100),
          settings: { ...SETTINGS, confirmations },
          times: times(),
        })),
      ),
    ),
  );
}

export const TAKEN: readonly CallCase[] = CALLED.flatMap((payment) =>
  [false, true].map((commitsMayBeLost) => ({ payment, commitsMayBeLost, times: { now: NOW } })),
);

function sessions(status: HeldSession['status']): HeldSession[] {
  return everyOf<HeldSession>({
    status: [status],
    expiresAt: [at(0), at(1)],
    paymentId: [null, 'pay_1', 'pay_2'],
    latePaymentId: [null, 'pay_0'],
  });
}

const HOLDING: HoldingPayment[] = everyOf<HoldingPayment>({
  stage: ['settle', 'confirm'],
  settleCalls: [0, 1],
  settleEndedAt: [null, at(-1)],
  settleUnclear: [true, false],
  reportedTransaction: [null, HASH],
});

export function successes(status: HeldSession['status']): SuccessCase[] {
  return sessions(status).flatMap((session) =>
    [undefined, ...HOLDING].flatMap((holding) =>
      [false, true].map((commitsMayBeLost) => ({ session, paymentId: 'pay_1', holding, commitsMayBeLost })),
    ),
  );
}

export function failures(status: HeldSession['status']): FailureCase[] {
  return sessions(status).map((session) => ({ session, paymentId: 'pay_1', now: NOW }));
}
