import assert from 'node:assert/strict';
import { AdaptiveConcurrency } from '../../../workers/webhook-delivery/adaptive-concurrency.js';

const QUICK = 1000;
const SLOW = 1001;

describe('the adaptive concurrency of an endpoint', () => {
  const follow = (
    adaptive: AdaptiveConcurrency,
    slots: number,
    answers: readonly number[],
  ): (number | undefined)[] => answers.map((ms) => adaptive.afterSuccess({ id: 'we_1', slots }, ms));
  const times = (count: number, ms: number): number[] => Array.from({ length: count }, () => ms);

  it('doubles after a round of quick answers, and not before', () => {
    const answers = follow(new AdaptiveConcurrency(), 10, times(10, QUICK));
    assert.deepEqual(answers, [...times(9, 0).map(() => undefined), 20]);
  });

  it('needs a whole round at the new number for the next doubling', () => {
    const adaptive = new AdaptiveConcurrency();
    follow(adaptive, 10, times(10, QUICK));
    assert.deepEqual(new Set(follow(adaptive, 20, times(19, QUICK))), new Set([undefined]));
    assert.equal(adaptive.afterSuccess({ id: 'we_1', slots: 20 }, QUICK), 40);
  });

  it('is at most fifty', () => {
    assert.equal(follow(new AdaptiveConcurrency(), 40, times(40, QUICK)).at(-1), 50);
    assert.deepEqual(new Set(follow(new AdaptiveConcurrency(), 50, times(200, QUICK))), new Set([undefined]));
  });

  it('is halved by a slow answer, down to the initial number, and starts a new round', () => {
    const adaptive = new AdaptiveConcurrency();
    assert.deepEqual(follow(adaptive, 50, [...times(49, QUICK), SLOW, QUICK]).slice(-2), [25, undefined]);
    assert.deepEqual(follow(adaptive, 12, [SLOW]), [10]);
    const answers = follow(adaptive, 10, [...times(9, QUICK), SLOW, QUICK]);
    assert.deepEqual(new Set(answers), new Set([undefined]));
  });

  it('is separate for each endpoint', () => {
    const adaptive = new AdaptiveConcurrency();
    follow(adaptive, 10, times(9, QUICK));
    assert.equal(adaptive.afterSuccess({ id: 'we_2', slots: 10 }, QUICK), undefined);
    assert.equal(adaptive.afterSuccess({ id: 'we_1', slots: 10 }, QUICK), 20);
  });
});
