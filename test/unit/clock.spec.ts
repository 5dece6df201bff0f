import assert from 'node:assert/strict';
import { clockCorrectionMs, correctClock, nowMs, unmockedHostMs } from '../../shared/process/clock.js';

describe("following Postgres' clock", () => {
  const START = 1_000_000;
  /** A query sent at START and answered `tookMs` later, by a Postgres whose clock was `aheadMs` ahead halfway. */
  function ask(aheadMs: number, tookMs: number): number {
    const postgresMs = START + tookMs / 2 + aheadMs;
    correctClock(postgresMs, { askedAtMs: START, answeredAtMs: START + tookMs });
    return clockCorrectionMs();
  }
  afterEach(() => ask(0, 0));

  it('does not correct a clock that may be right', () => {
    assert.deepEqual([ask(0, 0), ask(0, 40), ask(15, 40), ask(-15, 40)], [0, 0, 0, 0]);
  });

  it('corrects a wrong clock by the smallest possible offset, in either direction', () => {
    assert.equal(ask(8000, 10), 8000 - 5 - 1);
    assert.ok(Math.abs(nowMs() - unmockedHostMs() - 7994) < 50);
    assert.equal(ask(0, 0), 0);
    assert.equal(ask(-40_000, 10), -40_000 + 5);
  });

  it('narrows the offset with each answer, and ignores a slow one', () => {
    ask(8000, 1000);
    const close = ask(8000, 2);
    assert.ok(Math.abs(close - 8000) <= 2);
    assert.equal(ask(0, 60_000), close);
  });
});
