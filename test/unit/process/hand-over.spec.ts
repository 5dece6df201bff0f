import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { handOver } from '../../../api/process/hand-over.js';

const NEVER_MS = 600_000;
const QUICK = { leastMs: 1, lookEveryMs: 1 };
/** Asked at every moment of a spec. */
const ASKED_ON = Number.POSITIVE_INFINITY;

describe('a stopping web process hands over', () => {
  it('at once when no balancer asks for its /readyz', async () => {
    const lifecycle = { isStopping: true, readinessAskedAt: Number.NEGATIVE_INFINITY, stoppingAnswers: 0 };
    await handOver(lifecycle, { leastMs: NEVER_MS });
  });

  it('when a balancer that asks on was told three times that it stops', async () => {
    const lifecycle = { isStopping: true, readinessAskedAt: ASKED_ON, stoppingAnswers: 2 };
    let isOver = false;
    const over = handOver(lifecycle, { ...QUICK, mostMs: NEVER_MS }).then(() => {
      isOver = true;
    });
    await sleep(50);
    assert.equal(isOver, false);
    lifecycle.stoppingAnswers = 3;
    await over;
  });

  it('when a balancer has asked before, and asks no more', async () => {
    const lifecycle = { isStopping: true, readinessAskedAt: performance.now(), stoppingAnswers: 1 };
    await handOver(lifecycle, { ...QUICK, checksWithinMs: 5, mostMs: NEVER_MS });
  });

  it('in the end, although a balancer seldom asks', async () => {
    const lifecycle = { isStopping: true, readinessAskedAt: ASKED_ON, stoppingAnswers: 0 };
    await handOver(lifecycle, { ...QUICK, mostMs: 5 });
  });
});
