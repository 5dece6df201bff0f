import assert from 'node:assert/strict';
import { loggedVerdict } from '../../../shared/settlement/policy/payment-state.js';
import type { SettleVerdict } from '../../../shared/x402/facilitator/settle-verdict.js';
import { HASH, settle } from './answers.js';

describe('after an unclear attempt of the same payment', () => {
  const unclear = {
    validUntil: new Date(),
    dueAt: null,
    settleCalls: 2,
    settleUnclear: true,
    reportedTransaction: null,
    network: 'eip155:8453',
    payer: null,
  };
  const afterUnclear = (answer: SettleVerdict): SettleVerdict => loggedVerdict(unclear, answer);

  it('a failure, and a call that was not processed, prove nothing', () => {
    assert.deepEqual(afterUnclear(settle({ success: false, errorReason: 'insufficient_funds' })), {
      kind: 'unknown',
      why: 'insufficient_funds after an unclear attempt',
      transaction: undefined,
      mayStillRun: false,
    });
    assert.equal(afterUnclear(settle('', 429)).kind, 'unknown');
  });

  it('success stays success, and unknown stays unknown', () => {
    const settled = settle({ success: true, transaction: HASH });
    assert.equal(settled.kind, 'settled');
    assert.equal(afterUnclear(settled), settled);
    const unknown = settle({ success: false, transaction: HASH });
    assert.equal(afterUnclear(unknown), unknown);
  });
});
