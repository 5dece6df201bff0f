import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { expireInBatches } from '../../../workers/jobs/expire-sessions.js';

const LOGGER = { warn: () => undefined };
const BATCH_MS = 30;
/** Timers may end a millisecond early. */
const TIMER_MS = 2;

describe('batches of expiring sessions', () => {
  let batches: { limit: number; began: number; ended: number }[];
  let left: number;
  beforeEach(() => {
    batches = [];
  });

  const expireAtMost =
    (most: number) =>
    async (limit: number): Promise<number> => {
      const began = performance.now();
      const expired = Math.min(left, limit, most);
      left -= expired;
      await sleep(BATCH_MS);
      batches.push({ limit, began, ended: performance.now() });
      return expired;
    };

  it('are two at once', async () => {
    left = 6000;
    assert.equal(await expireInBatches(expireAtMost(1000), LOGGER), 6000);
    const [first, second, third] = batches;
    assert.ok(first && second && third);
    assert.ok(second.began < first.ended && third.began < second.ended + BATCH_MS);
    assert.equal(batches.filter(({ limit }) => limit === 1000).length, batches.length);
  });

  it('are one at a time while each is cut short, with pauses twice as long as the batches', async () => {
    left = 100;
    assert.equal(await expireInBatches(expireAtMost(20), LOGGER), 100);
    // The first two begin at once, and end in any order.
    const later = batches.slice(2);
    assert.equal(later.length, 4);
    assert.ok(later.every(({ limit }) => limit === 40));
    for (const [at, { began }] of later.entries()) {
      const before = later[at - 1];
      if (before !== undefined)
        assert.ok(
          began - before.ended >= 2 * (before.ended - before.began - TIMER_MS),
          `batch ${at} began at once`,
        );
    }
  });

  it('have half the rows after a failure, and a single row that fails ends them', async () => {
    const limits: number[] = [];
    const fail = (limit: number): Promise<number> => {
      limits.push(limit);
      return Promise.reject(new Error('refused'));
    };
    await assert.rejects(expireInBatches(fail, LOGGER), /refused/);
    assert.deepEqual([...new Set(limits)], [1000, 500, 250, 125, 62, 31, 15, 7, 3, 1]);
  });
});
