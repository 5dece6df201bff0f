import assert from 'node:assert/strict';
import { type Counter, countInMemory } from '../../../api/limits/memory-counters.js';
import { rowCharger } from '../../../api/limits/row-charges.js';
import { advanceClock, resetClock } from '../../../shared/process/clock.js';

const POINTS = 10;
const BURST_SECONDS = 10;

describe('a request that counts as many', () => {
  let steady: Counter;
  let burst: Counter;
  let takeMore: (key: string, more: number) => Promise<number | undefined>;
  beforeEach(() => {
    steady = counter(1);
    burst = counter(BURST_SECONDS);
    takeMore = rowCharger(steady, burst, BURST_SECONDS);
  });
  afterEach(() => resetClock());

  function counter(duration: number): Counter {
    const memory = countInMemory({ points: POINTS, duration });
    return {
      points: POINTS,
      count: async (key, asked) => memory.count(key, asked),
      left: async (key) => memory.left(key),
      useUp: async (key, seconds) => memory.useUp(key, seconds),
    };
  }

  /** A request that `take` has granted, with `more` rows. */
  async function ask(more: number): Promise<number | undefined> {
    const { granted, msBeforeNext } = await steady.count('a', 1);
    if (granted === 0 && (await burst.count('a', 1)).granted === 0) return msBeforeNext;
    return await takeMore('a', more);
  }

  it('takes the share of the second, then of the burst, and no more than both', async () => {
    assert.equal(await ask(4), undefined);
    assert.equal((await steady.left('a')).granted, 5);
    assert.equal(await ask(14), undefined);
    assert.deepEqual([(await steady.left('a')).granted, (await burst.left('a')).granted], [0, 0]);
  });

  it('takes nothing when it is refused, and says when it fits', async () => {
    await ask(4);
    const waitMs = await ask(18);
    assert.ok(waitMs !== undefined && waitMs > 0 && waitMs <= 1000);
    assert.deepEqual([(await steady.left('a')).granted, (await burst.left('a')).granted], [4, POINTS]);
    await burst.count('a', 1);
    const longer = await ask(19);
    assert.ok(longer !== undefined && longer > 9000 && longer <= 10_000);
  });

  it('larger than the whole share passes when the burst is whole, and leaves a debt', async () => {
    assert.equal(await ask(99), undefined);
    // 100 rows: 10 and 10 at once, 80 at 10 a second.
    for (const seconds of [0, 7.9]) {
      advanceClock(seconds * 1000);
      assert.ok((await ask(0)) !== undefined);
    }
    advanceClock(200);
    assert.equal(await ask(0), undefined);
    assert.equal((await burst.left('a')).granted, 0);
    advanceClock(1000);
    const waitMs = await ask(99);
    assert.ok(waitMs !== undefined && waitMs > 1000);
    advanceClock(BURST_SECONDS * 1000);
    assert.equal(await ask(99), undefined);
  });

  it('passes once of many at the same moment', async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => ask(99)));
    assert.equal(answers.filter((waitMs) => waitMs === undefined).length, 1);
  });
});
