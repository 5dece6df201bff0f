import assert from 'node:assert/strict';
import { countInMemory } from '../../../api/limits/memory-counters.js';
import { MAX_COUNTED_IN_MEMORY } from '../../../shared/limits/bounds.js';
import { advanceClock, resetClock } from '../../../shared/process/clock.js';

const SHARE = { keyPrefix: 'test', points: 3, duration: 60 };

describe('a limit that is counted in memory', () => {
  afterEach(() => resetClock());

  it('grants exactly the share, also to many requests at once', () => {
    const { count } = countInMemory(SHARE);
    assert.equal(count('a', 2).granted, 2);
    assert.equal(count('a', 2).granted, 1);
    assert.equal(count('a', 2).granted, 0);
    assert.equal(count('b', 9).granted, 3);
  });

  it('grants a new share when the window is over, and not before', () => {
    const { count } = countInMemory(SHARE);
    count('a', 3);
    advanceClock(59_000);
    const { granted, msBeforeNext } = count('a', 1);
    assert.equal(granted, 0);
    assert.ok(msBeforeNext > 0 && msBeforeNext <= 1000);
    advanceClock(msBeforeNext);
    assert.equal(count('a', 1).granted, 1);
  });

  it('keeps a limited number of keys, the most recently used', () => {
    const { count } = countInMemory(SHARE);
    count('old', 3);
    count('busy', 3);
    for (let n = 0; n < MAX_COUNTED_IN_MEMORY - 1; n += 1) {
      count(`${n}`, 1);
      if (n % 1000 === 0) count('busy', 1);
    }
    assert.equal(count('busy', 1).granted, 0);
    assert.equal(count('old', 1).granted, 1);
  });
});
