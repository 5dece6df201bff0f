import assert from 'node:assert/strict';
import { Tally } from '../../../shared/limits/tally.js';

describe('a tally', () => {
  it('keeps the amount of each holder and their sum', () => {
    const tally = new Tally();
    for (const [holder, amount] of [
      ['a', 2],
      ['b', 3],
      ['a', 1],
    ] as const)
      tally.add(holder, amount);
    assert.deepEqual([tally.of('a'), tally.of('b'), tally.of('c'), tally.sum], [3, 3, 0, 6]);
  });

  it('drops a holder whose amount is zero', () => {
    const tally = new Tally();
    tally.add('a', 2);
    tally.add('b', 1);
    tally.add('c', 0);
    tally.add('a', -2);
    assert.deepEqual([tally.holders(), tally.sum], [['b'], 1]);
  });
});
