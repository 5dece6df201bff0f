import assert from 'node:assert/strict';
import { ReadinessChecks } from '../../../api/deps/readiness-checks.js';

describe('the balancers that ask a process for its /readyz', () => {
  let nowMs = 0;
  let checks: ReadinessChecks;
  beforeEach(() => {
    nowMs = 1000;
    checks = new ReadinessChecks(() => nowMs);
  });

  it('are told apart by their addresses, each with its own interval', () => {
    for (const [at, address] of [
      [1000, '10.0.0.1'],
      [1500, '10.0.0.2'],
      [3000, '10.0.0.1'],
      [6500, '10.0.0.2'],
    ] as const) {
      nowMs = at;
      checks.note(address);
    }
    assert.deepEqual(checks.balancers(), [
      { askedAt: 3000, everyMs: 2000, timesTold: 0 },
      { askedAt: 6500, everyMs: 5000, timesTold: 0 },
    ]);
  });

  it('are forgotten when they ask no more, and one that asks seldom has no interval', () => {
    checks.note('10.0.0.1');
    nowMs += 10_001;
    assert.deepEqual(checks.balancers(), []);
    checks.note('10.0.0.1');
    assert.deepEqual(checks.balancers(), [{ askedAt: nowMs, everyMs: 0, timesTold: 0 }]);
  });

  it('are few: a stranger with many addresses is not remembered', () => {
    for (let index = 0; index < 1000; index++) checks.note(`10.0.1.${index}`);
    assert.equal(checks.balancers().length, 32);
    assert.equal(checks.note('10.0.0.1'), undefined);
  });
});
