import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { releaseWhenSent } from '../../../api/http/release-when-sent.js';
import { openByteBudget } from '../../../api/limits/byte-budget.js';

describe('a budget of bytes', () => {
  it('gives no more than it has, and a holder no more than its part', () => {
    const budget = openByteBudget({ total: 10, perHolder: 6 });
    assert.ok(budget.take('a', 6));
    assert.equal(budget.take('a', 1), undefined);
    assert.equal(budget.take('b', 5), undefined);
    assert.ok(budget.take('b', 4));
    assert.equal(budget.take('c', 1), undefined);
    assert.ok(budget.take('c', 0));
  });

  it('takes back what was taken, once', () => {
    const budget = openByteBudget({ total: 10, perHolder: 10 });
    const release = budget.take('a', 10) ?? assert.fail();
    release();
    release();
    assert.ok(budget.take('b', 10));
    assert.equal(budget.take('b', 1), undefined);
  });

  it('takes back what an answer holds when it is over, also when it was over before', () => {
    let released = 0;
    const answer = (closed: boolean) =>
      Object.assign(new EventEmitter(), {
        closed,
        destroy: () => {},
        req: { socket: new EventEmitter() },
      }) as unknown as ServerResponse;
    const open = answer(false);
    releaseWhenSent(open, () => (released += 1));
    assert.equal(released, 0);
    open.emit('close');
    assert.equal(released, 1);
    releaseWhenSent(answer(true), () => (released += 1));
    assert.equal(released, 2);
  });
});
