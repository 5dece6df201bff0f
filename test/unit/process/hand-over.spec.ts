import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Balancer } from '../../../api/deps/readiness-checks.js';
import { handOver } from '../../../api/process/hand-over.js';

const NEVER_MS = 600_000;
const QUICK = { leastMs: 1, lookEveryMs: 1 };
/** Asked at every moment of a spec. */
const ASKED_ON = Number.POSITIVE_INFINITY;

function balancer(changes: Partial<Balancer>): Balancer {
  return { askedAt: performance.now(), everyMs: 0, timesTold: 0, ...changes };
}

describe('a stopping web process hands over', () => {
  /** Longer than QUICK looks take. */
  async function assertOnlyWhenTold(
    told: Balancer,
    others: readonly Balancer[],
    checksWithinMs: number,
  ): Promise<void> {
    let isOver = false;
    const over = handOver([told, ...others], { ...QUICK, checksWithinMs, mostMs: NEVER_MS }).then(() => {
      isOver = true;
    });
    await sleep(50);
    assert.equal(isOver, false);
    told.timesTold = 3;
    await over;
  }

  it('at once when no balancer asks for its /readyz', async () => {
    await handOver([], { leastMs: NEVER_MS });
  });

  it('when a balancer that asks on was told three times that it stops', async () => {
    await assertOnlyWhenTold(balancer({ askedAt: ASKED_ON, timesTold: 2 }), [], NEVER_MS);
  });

  it('when each of two balancers was told three times, one of them often', async () => {
    const often = balancer({ askedAt: ASKED_ON, timesTold: 30 });
    await assertOnlyWhenTold(balancer({ askedAt: ASKED_ON, timesTold: 2 }), [often], NEVER_MS);
  });

  it('when a balancer that asks at longer intervals was told three times that it stops', async () => {
    await assertOnlyWhenTold(balancer({ everyMs: 5000 }), [], 5);
  });

  it('when a balancer has asked before, and asks no more', async () => {
    await handOver([balancer({ timesTold: 1 })], { ...QUICK, checksWithinMs: 5, mostMs: NEVER_MS });
  });

  it('after another look when it was frozen: checks that came meanwhile are read after its timers', async () => {
    const askedAt = performance.now() - 5000;
    const frozen = balancer({ timesTold: 2 });
    let isRead = false;
    let looks = 0;
    Object.defineProperty(frozen, 'askedAt', {
      get() {
        looks += 1;
        if (looks === 1) return askedAt;
        isRead = true;
        frozen.timesTold = 3;
        return performance.now();
      },
    });
    await handOver([frozen], { ...QUICK, checksWithinMs: 5, mostMs: NEVER_MS });
    assert.equal(isRead, true);
  });

  it('in the end, although a balancer seldom asks', async () => {
    await handOver([balancer({ askedAt: ASKED_ON })], { ...QUICK, mostMs: 5 });
  });
});
