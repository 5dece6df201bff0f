import assert from 'node:assert/strict';
import { afterCall } from '../../../shared/settlement/policy/after-call.js';
import { beforeCall, mayStillCall } from '../../../shared/settlement/policy/before-call.js';
import type { Decision } from '../../../shared/settlement/policy/decision.js';
import type { Settings, WatchedPayment } from '../../../shared/settlement/policy/payment-state.js';
import type { SettleVerdict } from '../../../shared/x402/facilitator/settle-verdict.js';
import { aPayment, at, SETTINGS, times, unclearPayment } from './a-payment.js';

const HASH = '0xabc';
const SETTLED: SettleVerdict = { kind: 'settled', transaction: HASH, payer: '0xpayer' };
const REFUSED: SettleVerdict = {
  kind: 'rejected',
  code: 'insufficient_funds',
  reason: 'no',
  mayMeanUsed: false,
};
const MAY_MEAN_USED: SettleVerdict = { ...REFUSED, code: 'invalid_transaction_state', mayMeanUsed: true };
const TURNED_AWAY: SettleVerdict = { kind: 'not_processed', why: 'HTTP 401' };
const POSTPONED: SettleVerdict = { kind: 'postponed', why: 'its limit', forMs: 2500 };
const UNKNOWN: SettleVerdict = {
  kind: 'unknown',
  why: 'HTTP 500',
  transaction: undefined,
  mayStillRun: false,
};

/** The kind of the decision, with its patch, code or proof. */
function inShort(decision: Decision): unknown[] {
  switch (decision.kind) {
    case 'fail':
      return ['fail', decision.code, decision.released, decision.watchAt];
    case 'settle_again':
    case 'check_again':
      return [decision.kind, decision.at, decision.patch];
    case 'succeed':
      return ['succeed', decision.proof];
    default:
      return [decision.kind];
  }
}

interface Row {
  what: string;
  answer: SettleVerdict;
  payment?: WatchedPayment;
  settings?: Settings;
  commitsMayBeLost?: boolean;
  another?: string;
  says: unknown[];
}

/** A minute after the end of the authorization. */
const WATCHED = at(360_000);
const ENDED = { settleEndedAt: at(-100) };
const DOUBTED = { ...ENDED, settleUnclear: true };

const NOT_REACHED: SettleVerdict = { kind: 'not_processed', why: 'ECONNREFUSED', isUnsent: true };
const ANOTHER = 'another.example';

const ROWS: readonly Row[] = [
  {
    what: 'not reached, and another facilitator serves the payment',
    answer: NOT_REACHED,
    another: ANOTHER,
    says: ['settle_again', at(0), { settleEndedAt: at(0), facilitator: ANOTHER }],
  },
  {
    what: 'not reached, after an unclear call, and another facilitator serves the payment',
    answer: NOT_REACHED,
    payment: unclearPayment({}),
    another: ANOTHER,
    says: ['check_again', at(1000), DOUBTED],
  },
  {
    what: 'not reached, while Postgres may have lost commits, and another facilitator serves the payment',
    answer: NOT_REACHED,
    commitsMayBeLost: true,
    another: ANOTHER,
    says: ['check_again', at(1000), DOUBTED],
  },
  {
    what: 'not reached a third time, and another facilitator serves the payment',
    answer: NOT_REACHED,
    payment: aPayment({ settleCalls: 3 }),
    another: ANOTHER,
    says: ['fail', 'payment_service_unavailable', true, undefined],
  },
  {
    what: 'settled',
    answer: SETTLED,
    says: ['succeed', { transaction: HASH, payer: '0xpayer', proofIndex: undefined }],
  },
  {
    what: 'settled, after an unclear outcome',
    answer: SETTLED,
    payment: unclearPayment(),
    says: ['succeed', { transaction: HASH, payer: '0xpayer', proofIndex: undefined }],
  },
  {
    what: 'settled, where confirmations are waited for',
    answer: SETTLED,
    settings: { ...SETTINGS, confirmations: 1 },
    says: ['check_again', at(0), { ...ENDED, reportedTransaction: HASH, settleUnclear: false }],
  },
  { what: 'refused clearly', answer: REFUSED, says: ['fail', 'insufficient_funds', false, WATCHED] },
  {
    what: 'refused clearly, after an unclear outcome',
    answer: REFUSED,
    payment: unclearPayment(),
    says: ['check_again', at(1000), { ...ENDED, settleUnclear: true }],
  },
  {
    what: 'refused clearly, after a reported success',
    answer: REFUSED,
    payment: aPayment({ reportedTransaction: HASH }),
    says: ['check_again', at(1000), { ...ENDED, settleUnclear: false }],
  },
  {
    what: 'refused as a used authorization would be',
    answer: MAY_MEAN_USED,
    says: ['check_again', at(1000), { ...DOUBTED, failureCode: 'invalid_transaction_state' }],
  },
  {
    what: 'refused clearly, while Postgres may have lost commits',
    answer: REFUSED,
    commitsMayBeLost: true,
    says: ['check_again', at(1000), { ...DOUBTED, failureCode: 'insufficient_funds' }],
  },
  {
    what: 'refused as a used authorization would be, after an unclear outcome',
    answer: MAY_MEAN_USED,
    payment: unclearPayment(),
    says: ['check_again', at(1000), DOUBTED],
  },
  {
    what: 'settled, paid by another wallet',
    answer: { ...SETTLED, payer: '0xstranger' },
    says: ['check_again', at(0), DOUBTED],
  },
  {
    what: 'settled on Solana, paid by another wallet',
    answer: { ...SETTLED, payer: 'stranger' },
    payment: aPayment({ network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp' }),
    says: ['succeed', { transaction: HASH, payer: 'stranger', proofIndex: undefined }],
  },
  {
    what: 'turned away',
    answer: TURNED_AWAY,
    says: ['settle_again', at(1000), { settleEndedAt: at(0) }],
  },
  {
    what: 'turned away a second time',
    answer: TURNED_AWAY,
    payment: aPayment({ settleCalls: 2 }),
    says: ['settle_again', at(2000), { settleEndedAt: at(0) }],
  },
  {
    what: 'turned away a third time',
    answer: TURNED_AWAY,
    payment: aPayment({ settleCalls: 3 }),
    says: ['fail', 'payment_service_unavailable', true, undefined],
  },
  {
    what: 'turned away, with a repetition just in time',
    answer: TURNED_AWAY,
    payment: aPayment({ validUntil: at(11_000) }),
    says: ['settle_again', at(1000), { settleEndedAt: at(0) }],
  },
  {
    what: 'turned away, a millisecond too late for a repetition',
    answer: TURNED_AWAY,
    payment: aPayment({ validUntil: at(10_999) }),
    says: ['fail', 'payment_service_unavailable', true, undefined],
  },
  {
    what: 'turned away, after an unclear outcome',
    answer: TURNED_AWAY,
    payment: unclearPayment({ settleCalls: 3 }),
    says: ['check_again', at(1000), { ...ENDED, settleUnclear: true }],
  },
  {
    what: 'turned away a third time, while Postgres may have lost commits',
    answer: TURNED_AWAY,
    payment: aPayment({ settleCalls: 3 }),
    commitsMayBeLost: true,
    says: ['check_again', at(1000), DOUBTED],
  },
  {
    what: 'postponed',
    answer: POSTPONED,
    says: ['settle_again', at(2500), { settleEndedAt: at(0) }],
  },
  {
    what: 'postponed, however often it was sent',
    answer: POSTPONED,
    payment: aPayment({ settleCalls: 3 }),
    says: ['settle_again', at(2500), { settleEndedAt: at(0) }],
  },
  {
    what: 'postponed, after an unclear outcome',
    answer: POSTPONED,
    payment: unclearPayment({ settleCalls: 3 }),
    says: ['settle_again', at(2500), { settleEndedAt: at(0) }],
  },
  {
    what: 'postponed until after the last moment at which it may be sent',
    answer: POSTPONED,
    payment: aPayment({ validUntil: at(12_000) }),
    says: ['settle_again', at(2000), { settleEndedAt: at(0) }],
  },
  {
    what: 'postponed in that moment',
    answer: POSTPONED,
    payment: aPayment({ validUntil: at(10_000) }),
    says: ['fail', 'payment_service_unavailable', true, undefined],
  },
  {
    what: 'postponed in that moment, after an unclear outcome',
    answer: POSTPONED,
    payment: unclearPayment({ validUntil: at(10_000) }),
    says: ['check_again', at(0), { settleEndedAt: at(0) }],
  },
  { what: 'unclear', answer: UNKNOWN, says: ['check_again', at(1000), { ...ENDED, settleUnclear: true }] },
  {
    what: 'unclear, with a transaction',
    answer: { ...UNKNOWN, transaction: HASH },
    says: ['check_again', at(1000), { ...ENDED, settleUnclear: true, reportedTransaction: HASH }],
  },
  {
    what: 'unclear, and the facilitator may go on',
    answer: { ...UNKNOWN, mayStillRun: true },
    says: ['check_again', at(1000), { settleEndedAt: at(-300 + 120_000), settleUnclear: true }],
  },
];

describe('an answer of /settle', () => {
  for (const {
    what,
    answer,
    payment = aPayment(),
    settings = SETTINGS,
    commitsMayBeLost = false,
    another,
    says,
  } of ROWS) {
    it(`that it is ${what}: ${says[0]}`, () => {
      const call = { answer, startedAt: at(-300), endedAt: at(-100), commitsMayBeLost, another };
      assert.deepEqual(inShort(afterCall(payment, call, settings, times())), says);
    });
  }
});

describe('a payment that was taken to be settled', () => {
  it('is sent a first time, however soon its authorization ends', () => {
    assert.equal(beforeCall(aPayment({ validUntil: at(-1) }), false, times()), undefined);
  });

  it('is sent again until ten seconds before the end of its authorization, and then given up, released', () => {
    const again = (leftMs: number) =>
      beforeCall(aPayment({ settleCalls: 2, validUntil: at(leftMs) }), false, times());
    assert.equal(again(10_000), undefined);
    const late = again(9999);
    assert.deepEqual(late && inShort(late), ['fail', 'payment_service_unavailable', true, undefined]);
  });

  it('goes to the chain then, when the outcome is unclear', () => {
    const late = beforeCall(unclearPayment({ settleCalls: 2, validUntil: at(9999) }), false, times());
    assert.deepEqual(late && inShort(late), ['check_again', at(0), { settleEndedAt: at(0) }]);
  });

  it('goes to the chain then, while Postgres may have lost commits', () => {
    const late = beforeCall(aPayment({ settleCalls: 2, validUntil: at(9999) }), true, times());
    assert.deepEqual(late && inShort(late), ['check_again', at(0), { settleEndedAt: at(0) }]);
  });

  it('is not sent by a process that stood still: the call must end five seconds before another may take it', () => {
    const may = (leaseMs: number): boolean =>
      mayStillCall(aPayment({ dueAt: at(leaseMs) }), SETTINGS, times());
    assert.deepEqual([may(95_000), may(94_999)], [true, false]);
    assert.equal(mayStillCall(aPayment({ dueAt: null }), SETTINGS, times()), false);
  });
});
