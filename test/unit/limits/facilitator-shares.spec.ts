import assert from 'node:assert/strict';
import { shareOfCalls, shareOfConnections } from '../../../shared/limits/facilitator-shares.js';

describe('the share of a process', () => {
  const CALLERS = { web: 2, worker: 2 };

  it('is a quarter of the connections for web and three quarters for workers, and half of the calls for each', () => {
    assert.equal(shareOfConnections(100, 'web', CALLERS), 12);
    assert.equal(shareOfConnections(100, 'worker', CALLERS), 37);
    assert.equal(shareOfCalls('web', CALLERS), 0.25);
    assert.equal(shareOfCalls('worker', { web: 3, worker: 1 }), 0.5);
  });

  it('leaves the part of the other kind to its first process, and is at least one connection', () => {
    assert.equal(shareOfConnections(100, 'worker', { web: 0, worker: 1 }), 75);
    assert.equal(shareOfCalls('web', { web: 1, worker: 0 }), 0.5);
    assert.equal(shareOfConnections(1, 'web', CALLERS), 1);
  });

  it('never adds up to more, as long as there is one for each', () => {
    for (const web of [1, 2, 3])
      for (const worker of [1, 2, 3]) {
        const callers = { web, worker };
        const sum =
          web * shareOfConnections(40, 'web', callers) + worker * shareOfConnections(40, 'worker', callers);
        assert.ok(sum <= 40, `${web} and ${worker}: ${sum}`);
        const calls = web * shareOfCalls('web', callers) + worker * shareOfCalls('worker', callers);
        assert.ok(calls <= 1.000001);
      }
  });
});
