import assert from 'node:assert/strict';
import { Pace } from '../../../workers/webhook-delivery/pace.js';

const QUICK = 1000;
const SLOW = 1001;

describe('the pace of an endpoint', () => {
  const follow = (pace: Pace, places: number, answers: readonly number[]): (number | undefined)[] =>
    answers.map((ms) => pace.after({ id: 'we_1', places }, ms));
  const times = (count: number, ms: number): number[] => Array.from({ length: count }, () => ms);

  it('doubles after a round of quick answers, and not before', () => {
    const answers = follow(new Pace(), 10, times(10, QUICK));
    assert.deepEqual(answers, [...times(9, 0).map(() => undefined), 20]);
  });

  it('takes a whole round of the new number for the next', () => {
    const pace = new Pace();
    follow(pace, 10, times(10, QUICK));
    assert.deepEqual(new Set(follow(pace, 20, times(19, QUICK))), new Set([undefined]));
    assert.equal(pace.after({ id: 'we_1', places: 20 }, QUICK), 40);
  });

  it('ends at fifty', () => {
    assert.equal(follow(new Pace(), 40, times(40, QUICK)).at(-1), 50);
    assert.deepEqual(new Set(follow(new Pace(), 50, times(200, QUICK))), new Set([undefined]));
  });

  it('is halved by a slow answer, down to what a stranger has, and begins its round anew', () => {
    const pace = new Pace();
    assert.deepEqual(follow(pace, 50, [...times(49, QUICK), SLOW, QUICK]).slice(-2), [25, undefined]);
    assert.deepEqual(follow(pace, 12, [SLOW]), [10]);
    assert.deepEqual(follow(pace, 10, [...times(9, QUICK), SLOW, QUICK]).slice(-3), [
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('is of each endpoint by itself', () => {
    const pace = new Pace();
    follow(pace, 10, times(9, QUICK));
    assert.equal(pace.after({ id: 'we_2', places: 10 }, QUICK), undefined);
    assert.equal(pace.after({ id: 'we_1', places: 10 }, QUICK), 20);
  });
});
