import assert from 'node:assert/strict';
import { judge, untold } from '../../../lab/chaos/run/books.js';
import { facts, SIGNED } from './one-payment.js';

describe("chaos' books", () => {
  const line = { status: 'unrecorded', transaction: '0xt1' } as const;
  const known = { ...facts(), unrelated: new Set(['0xs']) };

  it('accept what matches, unrelated transfers, and what a failover has lost', () => {
    assert.deepEqual(judge({ ...line, status: 'matched' }, known), []);
    assert.deepEqual(judge({ ...line, transaction: '0xs' }, known), []);
    assert.deepEqual(judge(line, { ...known, forgotten: new Set(['cs_1']) }), []);
  });

  it('report a payment that was lost and not recorded again, though it carries the reference', () => {
    const solana = {
      ...known,
      buyers: [{ ...SIGNED, family: 'svm' as const }],
      forgotten: new Set(['cs_1']),
    };
    assert.equal(judge(line, solana).length, 1);
    assert.deepEqual(judge({ ...line, because: 'session_gone' }, solana), []);
  });

  it('report everything else, and money of which no line tells', () => {
    assert.equal(judge(line, known).length, 1);
    for (const status of ['missing', 'different'] as const)
      assert.equal(judge({ ...line, status }, { ...known, forgotten: new Set(['cs_1']) }).length, 1);
    const paid = { ...facts(), buyers: [{ ...SIGNED, sessionId: 'cs_1' }] };
    assert.deepEqual(untold(paid, new Set(['0xt1'])), []);
    assert.equal(untold(paid, new Set()).length, 1);
  });
});
