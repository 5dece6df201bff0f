import assert from 'node:assert/strict';
import { byOperator } from '../../../shared/settlement/policy/by-operator.js';
import type { ByRow } from '../../../shared/settlement/policy/decision-table.js';
import {
  afterFailure,
  afterSuccess,
  type HeldSession,
  type HoldingPayment,
} from '../../../shared/settlement/policy/session-after.js';
import { at, times } from './a-payment.js';

const session = (overrides: Partial<HeldSession> = {}): HeldSession => ({
  status: 'processing',
  expiresAt: at(1),
  paymentId: 'pay_1',
  latePaymentId: null,
  ...overrides,
});
/** The payment waits for its first call. */
const unasked: HoldingPayment = {
  stage: 'settle',
  settleCalls: 0,
  settleEndedAt: null,
  settleUnclear: false,
  reportedTransaction: null,
};

function succeed(
  held: HeldSession,
  paymentId: string,
  holding: HoldingPayment | undefined,
  commitsMayBeLost = false,
): ReturnType<typeof afterSuccess> {
  return afterSuccess({ session: held, paymentId, holding, commitsMayBeLost });
}

function withoutRow<Result extends object>(result: ByRow<Result>): object {
  const { row: _row, ...rest } = result;
  return rest;
}

describe('a session whose payment has succeeded', () => {
  it('is complete, and a payment that came late before is surplus', () => {
    assert.deepEqual(withoutRow(succeed(session(), 'pay_1', undefined)), {
      kind: 'complete',
      surplusPaymentId: null,
    });
    const late = session({ latePaymentId: 'pay_0' });
    assert.deepEqual(withoutRow(succeed(late, 'pay_1', undefined)), {
      kind: 'complete',
      surplusPaymentId: 'pay_0',
    });
  });

  for (const status of ['open', 'expired'] as const) {
    it(`is complete by late money when it is ${status}`, () => {
      const held = session({ status, paymentId: null });
      assert.deepEqual(withoutRow(succeed(held, 'pay_0', undefined)), {
        kind: 'complete',
        surplusPaymentId: null,
      });
    });
  }

  it('takes no more when it is complete', () => {
    assert.deepEqual(withoutRow(succeed(session({ status: 'complete' }), 'pay_0', undefined)), {
      kind: 'surplus',
    });
  });

  describe('while another payment holds it', () => {
    const held: Record<string, [HoldingPayment, string]> = {
      'and was never sent to /settle': [unasked, 'complete_instead'],
      'and was surely turned away': [
        { ...unasked, settleCalls: 1, settleEndedAt: at(-1) },
        'complete_instead',
      ],
      'and is at /settle': [{ ...unasked, settleCalls: 1 }, 'keep_as_late'],
      'and has an unclear outcome': [{ ...unasked, settleUnclear: true }, 'keep_as_late'],
      'and was reported as settled': [{ ...unasked, reportedTransaction: '0xabc' }, 'keep_as_late'],
      'and is looked for on its chain': [{ ...unasked, stage: 'confirm' }, 'keep_as_late'],
    };
    for (const [what, [holding, kind]] of Object.entries(held)) {
      it(`${what}: ${kind}`, () => assert.equal(succeed(session(), 'pay_0', holding).kind, kind));
    }

    it('does not give way while Postgres may have forgotten its call', () => {
      assert.equal(succeed(session(), 'pay_0', unasked, true).kind, 'keep_as_late');
    });

    it('keeps one late payment, and no second one', () => {
      const late = session({ latePaymentId: 'pay_0' });
      const confirming: HoldingPayment = { ...unasked, stage: 'confirm' };
      assert.deepEqual(withoutRow(succeed(late, 'pay_2', confirming)), { kind: 'surplus' });
    });
  });
});

describe('a session whose payment has failed', () => {
  it('is left alone by a payment that does not hold it', () => {
    assert.deepEqual(withoutRow(afterFailure(session(), 'pay_0', at(0))), { kind: 'leave' });
    assert.deepEqual(withoutRow(afterFailure(session({ status: 'complete' }), 'pay_1', at(0))), {
      kind: 'leave',
    });
  });

  it('is open again until its end, and expired from then on', () => {
    assert.deepEqual(withoutRow(afterFailure(session(), 'pay_1', at(0))), { kind: 'reopen' });
    assert.deepEqual(withoutRow(afterFailure(session(), 'pay_1', at(1))), { kind: 'expire' });
  });

  it('is complete with a payment that came late, also after its end', () => {
    const late = session({ latePaymentId: 'pay_0', expiresAt: at(-1) });
    assert.deepEqual(withoutRow(afterFailure(late, 'pay_1', at(0))), {
      kind: 'complete_with_late',
      latePaymentId: 'pay_0',
    });
  });
});

describe('an operator', () => {
  const payment = { validUntil: at(300_000) };

  it('says that a payment is paid', () => {
    const decision = byOperator(payment, { kind: 'paid', transaction: '0xabc' }, times());
    const proof = { transaction: '0xabc', payer: undefined, proofIndex: undefined };
    assert.deepEqual(decision, {
      kind: 'succeed',
      proof,
      said: { source: 'operator', said: 'paid in 0xabc' },
    });
  });

  it('says that a payment has failed; it is watched all the same, and its payload is not free', () => {
    const decision = byOperator(payment, { kind: 'failed', reason: 'lost' }, times());
    const said = { source: 'operator', said: 'failed: lost' };
    const failed = { kind: 'fail', code: 'lost', released: false, watchAt: at(360_000), said } as const;
    assert.deepEqual(decision, failed);
    const forced = byOperator(payment, { kind: 'failed', reason: 'lost', unproven: true }, times());
    assert.deepEqual(forced, { ...failed, code: 'outcome_unknown' });
  });
});
