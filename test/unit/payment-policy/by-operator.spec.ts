import assert from 'node:assert/strict';
import { whyChainLeavesItOpen } from '../../../shared/settlement/policy/by-operator.js';
import { at, unclearPayment } from './a-payment.js';
import { HASH, MINUTE, unused } from './check-rows.js';

describe('an operator calls a payment failed', () => {
  const payment = unclearPayment({ validUntil: at(-MINUTE) });

  it('for certain when its chain shows that it can never pay', () => {
    assert.equal(whyChainLeavesItOpen(payment, unused(-MINUTE + 1, true)), undefined);
    const spent = { kind: 'spent_otherwise', transaction: HASH } as const;
    assert.equal(whyChainLeavesItOpen(payment, spent), undefined);
  });

  it('not for certain when its chain was read up to a time before its end only', () => {
    assert.match(whyChainLeavesItOpen(payment, unused(-MINUTE, true)) ?? '', /^its chain was read up to /);
  });

  it('not for certain while a later block can use it', () => {
    assert.match(whyChainLeavesItOpen(payment, unused(0)) ?? '', /^its chain says: /);
  });
});
