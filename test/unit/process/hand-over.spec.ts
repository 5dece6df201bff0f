import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Lifecycle } from '../../../api/deps/deps.js';
import { noteCheck } from '../../../api/operations/note-check.js';
import { handOver } from '../../../api/process/hand-over.js';

const NEVER_MS = 600_000;
const QUICK = { leastMs: 1, lookEveryMs: 1 };
/** Asked at every moment of a spec. */
const ASKED_ON = Number.POSITIVE_INFINITY;

function stopping(changes: Partial<Lifecycle>): Lifecycle {
  const never = { readinessAskedAt: Number.NEGATIVE_INFINITY, readinessEveryMs: 0, stoppingAnswers: 0 };
  return { isStopping: true, ...never, ...changes };
}

describe('a stopping web process hands over', () => {
  /** Longer than QUICK looks take. */
  async function assertOnlyWhenTold(lifecycle: Lifecycle, checksWithinMs: number): Promise<void> {
    let isOver = false;
    const over = handOver(lifecycle, { ...QUICK, checksWithinMs, mostMs: NEVER_MS }).then(() => {
      isOver = true;
    });
    await sleep(50);
    assert.equal(isOver, false);
    lifecycle.stoppingAnswers = 3;
    await over;
  }

  it('at once when no balancer asks for its /readyz', async () => {
    await handOver(stopping({}), { leastMs: NEVER_MS });
  });

  it('when a balancer that asks on was told three times that it stops', async () => {
    await assertOnlyWhenTold(stopping({ readinessAskedAt: ASKED_ON, stoppingAnswers: 2 }), NEVER_MS);
  });

  it('when a balancer that asks at longer intervals was told three times that it stops', async () => {
    const lifecycle = stopping({ readinessAskedAt: performance.now() - 5000 });
    noteCheck(lifecycle);
    await assertOnlyWhenTold(lifecycle, 5);
  });

  it('when a balancer has asked before, and asks no more', async () => {
    const lifecycle = stopping({ readinessAskedAt: performance.now(), stoppingAnswers: 1 });
    await handOver(lifecycle, { ...QUICK, checksWithinMs: 5, mostMs: NEVER_MS });
  });

  it('when somebody has asked twice, and seldom', async () => {
    const lifecycle = stopping({ readinessAskedAt: performance.now() - NEVER_MS });
    noteCheck(lifecycle);
    await handOver(lifecycle, { ...QUICK, checksWithinMs: 5, mostMs: NEVER_MS });
  });

  it('after another look when it was frozen: checks that came meanwhile are read after its timers', async () => {
    const frozenMs = 5000;
    const askedAt = performance.now() - frozenMs;
    let isRead = false;
    const lifecycle = stopping({ stoppingAnswers: 2 });
    // The second question is the first look.
    let asked = 0;
    Object.defineProperty(lifecycle, 'readinessAskedAt', {
      get() {
        asked += 1;
        if (asked <= 2) return askedAt;
        isRead = true;
        lifecycle.stoppingAnswers = 3;
        return performance.now();
      },
    });
    await handOver(lifecycle, { ...QUICK, checksWithinMs: 5, mostMs: NEVER_MS });
    assert.equal(isRead, true);
  });

  it('in the end, although a balancer seldom asks', async () => {
    await handOver(stopping({ readinessAskedAt: ASKED_ON }), { ...QUICK, mostMs: 5 });
  });
});
