import assert from 'node:assert/strict';
import { openRateLimiter, type RateLimiter } from '../../../shared/limits/rate-limiter.js';
import { openSharedRateLimiter } from '../../../shared/limits/shared-rate-limiter.js';

const SOON = 60_000;

describe('the rate limiter of one process', () => {
  let atMs = 1000;
  const limiterOf = (intervalMs = 100): RateLimiter =>
    openRateLimiter(
      () => intervalMs,
      () => atMs,
    );

  it('grants turns one interval apart, and none that comes too late', async () => {
    const limiter = limiterOf();
    const taken = [await limiter.take(SOON), await limiter.take(SOON), await limiter.take(SOON)];
    const waits = taken.map(({ waitMs }) => waitMs);
    assert.deepEqual(waits, [0, 100, 200]);
    assert.deepEqual(await limiter.take(299), { granted: false, waitMs: 300 });
    assert.deepEqual(await limiter.take(300), { granted: true, waitMs: 300 });
  });

  it('does not save up unused turns', async () => {
    const limiter = limiterOf();
    await limiter.take(SOON);
    atMs += 10_000;
    assert.deepEqual([(await limiter.take(SOON)).waitMs, (await limiter.take(SOON)).waitMs], [0, 100]);
  });

  it('grants no turn during the longest pause', async () => {
    const limiter = limiterOf();
    limiter.pause(500);
    limiter.pause(200);
    assert.equal(await limiter.pausedMs(), 500);
    assert.deepEqual([(await limiter.take(SOON)).waitMs, (await limiter.take(SOON)).waitMs], [500, 600]);
    atMs += 500;
    assert.equal(await limiter.pausedMs(), 0);
  });
});

describe('the rate limiter of all processes', () => {
  const store = { run: () => Promise.reject(new Error('unavailable')) };

  it("is each process's own limiter while the store does not answer", async () => {
    const alone = openRateLimiter(() => 100);
    const limiter = openSharedRateLimiter({ store, key: 'k', intervalMs: 10, alone });
    assert.equal((await limiter.take(SOON)).waitMs, 0);
    assert.ok((await limiter.take(SOON)).waitMs > 50);
    limiter.pause(5000);
    assert.ok((await limiter.take(SOON)).waitMs > 4000);
  });

  it('without an interval does not space calls, but keeps a pause', async () => {
    const alone = openRateLimiter(() => 0);
    const limiter = openSharedRateLimiter({ store, key: 'k', intervalMs: undefined, alone });
    limiter.pause(5000);
    const { granted, waitMs } = await limiter.take(1000);
    assert.deepEqual([granted, waitMs > 4000], [false, true]);
  });
});
