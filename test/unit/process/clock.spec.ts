import assert from 'node:assert/strict';
import { mock } from 'node:test';
import {
  certainNow,
  clockCorrectionMs,
  correctClock,
  doClocksDisagree,
  earlierNowMs,
  nowMs,
  postgresSetBacks,
  resetClock,
  times,
  unmockedHostMs,
} from '../../../shared/process/clock.js';
import { createdAt, newId } from '../../../shared/values/ids.js';

/** An answer of a Postgres whose clock is so much ahead of the host's. */
function differBy(ms: number): void {
  const at = unmockedHostMs();
  correctClock(at + ms, { askedAtMs: at, answeredAtMs: at });
}

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
    assert.ok(Math.abs(nowMs() - unmockedHostMs() - 7994) < 1000);
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

describe("a host's clock that is set between two readings of Postgres' clock", () => {
  const HOUR_MS = 3_600_000;
  /** The monotonic clock goes on, so against it the host's clock is set by this much. */
  function set(byMs: number): void {
    const own = performance.now.bind(performance);
    mock.method(performance, 'now', () => own() - byMs);
  }
  const agree = (): void => differBy(0);
  beforeEach(agree);
  afterEach(() => {
    mock.restoreAll();
    agree();
    agree();
  });

  it("does not set the service's time back", () => {
    const before = nowMs();
    set(-HOUR_MS);
    assert.ok(nowMs() - before >= HOUR_MS, 'the hour that the monotonic clock has measured is missing');
    assert.ok(Math.abs(clockCorrectionMs() - HOUR_MS) < 100);
  });

  it("does not set the time back of a process that has not read Postgres' clock yet", async () => {
    // A copy of the module, as a process has it that has just started.
    const url = new URL('../../../shared/process/clock.js?just-started', import.meta.url);
    const started: typeof import('../../../shared/process/clock.js') = await import(url.href);
    const before = started.nowMs();
    set(-HOUR_MS);
    assert.ok(started.nowMs() - before >= HOUR_MS, 'work would be due an hour later');
    const at = unmockedHostMs();
    started.correctClock(at + HOUR_MS, { askedAtMs: at, answeredAtMs: at });
    assert.ok(started.nowMs() - before >= HOUR_MS);
  });

  it('gives ids no later time when it is set forward wrongly, neither then nor after it', () => {
    // Ids never decrease: this forgets those of other tests.
    resetClock();
    set(HOUR_MS);
    const right = unmockedHostMs() - HOUR_MS;
    const id = newId('req_');
    assert.match(id, /^req_[0-9A-Za-z]{28}$/);
    const first = createdAt(id).getTime();
    correctClock(right, { askedAtMs: right + HOUR_MS, answeredAtMs: right + HOUR_MS });
    const second = createdAt(newId('cs_test_')).getTime();
    resetClock();
    for (const ms of [first, second])
      assert.ok(Math.abs(ms - right) < HOUR_MS / 2, `off by ${ms - right} ms`);
  });

  it('does not end what cannot be taken back when it is set forward, until Postgres has confirmed it', () => {
    const before = nowMs();
    set(HOUR_MS);
    assert.ok(nowMs() - before < 1000);
    // The host says an hour more than the monotonic clock has measured.
    assert.ok(Math.abs(nowMs() - earlierNowMs() - HOUR_MS) < 1000);
    assert.equal(doClocksDisagree(), true);
    assert.ok(Math.abs(times().now.getTime() - times().own.getTime() - HOUR_MS) < 1000);
    agree();
    assert.equal(doClocksDisagree(), false);
    assert.ok(Math.abs(nowMs() - earlierNowMs()) < 1000);
  });

  it("is no step of Postgres' clock, whose own steps back are counted", () => {
    const steps = postgresSetBacks();
    set(HOUR_MS);
    agree();
    assert.equal(postgresSetBacks(), steps);
    differBy(-HOUR_MS);
    assert.equal(postgresSetBacks(), steps + 1);
  });
});

describe('the time that counts for what cannot be taken back', () => {
  afterEach(() => differBy(0));

  it("is Postgres' while the clocks agree, and the earlier one while they disagree", () => {
    for (const [ms, expected] of [
      [20_000, 20_000],
      [-20_000, -20_000],
      [60_000, 0],
      [-60_000, -60_000],
    ] as const) {
      differBy(ms);
      assert.equal(Math.round((certainNow().getTime() - unmockedHostMs()) / 1000) * 1000, expected);
    }
  });
});
