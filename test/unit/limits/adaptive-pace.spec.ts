import assert from 'node:assert/strict';
import { AdaptivePace, type PaceOptions } from '../../../shared/limits/adaptive-pace.js';

describe('the pace of a service with unknown limits', () => {
  let nowMs: number;
  beforeEach(() => {
    nowMs = 1000;
  });

  const open = (options: PaceOptions = {}): AdaptivePace =>
    new AdaptivePace({ nowMs: () => nowMs, ...options });

  /** Starts one call, and says how long the service must be left alone after it was limited. */
  function limit(pace: AdaptivePace, retryAfterMs?: number): number {
    nowMs += 1;
    pace.limited(pace.start(1), retryAfterMs);
    return pace.pausedMs;
  }

  function answer(pace: AdaptivePace, calls: number): void {
    for (let call = 0; call < calls; call += 1) pace.answered(pace.start(1));
  }

  it('doubles the calls in flight with each round of answers, and halves them after a failure', () => {
    const pace = open();
    const first = pace.free;
    answer(pace, first);
    assert.equal(pace.free, first * 2);
    pace.failed(pace.start(1));
    assert.equal(pace.free, first);
  });

  it('has a slot even when all calls fail', () => {
    const pace = open();
    for (let call = 0; call < 20; call += 1) pace.failed(pace.start(1));
    assert.equal(pace.free, 1);
  });

  it('pauses after a limit, twice as long each time until calls are answered', () => {
    const pace = open({ firstPauseMs: 100, longestPauseMs: 500 });
    const pauses = [1, 2, 3, 4].map(() => {
      const pausedMs = limit(pace);
      assert.equal(pace.free, 0);
      nowMs += pausedMs + 10_000;
      return pausedMs;
    });
    assert.deepEqual(pauses, [100, 200, 400, 500]);
    answer(pace, 7);
    assert.ok(limit(pace) < 300);
    nowMs += 10_000;
    answer(pace, 100);
    assert.equal(limit(pace), 100);
  });

  it('pauses once for calls that were in flight together', () => {
    const pace = open({ firstPauseMs: 100 });
    const together = [1, 2, 3, 4].map(() => pace.start(1));
    nowMs += 5;
    for (const started of together) pace.limited(started, undefined);
    assert.equal(pace.pausedMs, 100);
  });

  it('pauses as long as the service asks, also when a call in flight brings it', () => {
    const pace = open({ firstPauseMs: 100 });
    const [one, other] = [pace.start(1), pace.start(1)];
    nowMs += 5;
    pace.limited(one, 2000);
    assert.equal(pace.pausedMs, 2000);
    pace.limited(other, 3000);
    assert.equal(pace.pausedMs, 3000);
  });

  it('tells once that a limit began, and once that it is over', () => {
    const told: string[] = [];
    const pace = open({ onLimited: () => told.push('limited'), onLimitOver: () => told.push('over') });
    limit(pace);
    nowMs += 5000;
    answer(pace, 1);
    limit(pace);
    nowMs += 59_000;
    answer(pace, 1);
    assert.deepEqual([told, pace.isLimited], [['limited'], true]);
    nowMs += 2000;
    answer(pace, 1);
    answer(pace, 1);
    assert.deepEqual([told, pace.isLimited], [['limited', 'over'], false]);
  });

  for (const perSecond of [1, 10, 100]) {
    it(`finds that ${perSecond} calls a second are answered, and uses them`, () => {
      const pace = open();
      const counts = { answered: 0, limited: 0 };
      let second = { startedMs: 0, calls: 0 };
      const endMs = nowMs + 300_000;
      // The service counts the calls of each second, and answers after 20 ms.
      while (nowMs < endMs) {
        const { free, waitMs } = pace;
        const started = Array.from({ length: free }, () => pace.start(1));
        nowMs += free > 0 ? 20 : Math.max(waitMs, 1);
        for (const one of started) {
          if (nowMs - second.startedMs >= 1000) second = { startedMs: nowMs, calls: 0 };
          second.calls += 1;
          const isAnswered = second.calls <= perSecond;
          counts[isAnswered ? 'answered' : 'limited'] += 1;
          if (isAnswered) pace.answered(one);
          else pace.limited(one, undefined);
        }
      }
      assert.ok(counts.answered > 0.5 * 300 * perSecond, JSON.stringify(counts));
      assert.ok(counts.limited < 0.35 * counts.answered, JSON.stringify(counts));
    });
  }
});
