import assert from 'node:assert/strict';
import { lazy } from '../../../shared/process/lazy.js';

describe('a lazily loaded value', () => {
  it('is loaded at the first call, once for all callers', async () => {
    let loads = 0;
    const ask = lazy(async () => ++loads);
    assert.equal(loads, 0);
    assert.deepEqual(await Promise.all([ask(), ask()]), [1, 1]);
    assert.equal(await ask(), 1);
  });

  it('is loaded again after a failure', async () => {
    let loads = 0;
    const ask = lazy(async () => {
      if (++loads === 1) throw new Error('not there');
      return loads;
    });
    const together = await Promise.allSettled([ask(), ask()]);
    const statuses = together.map(({ status }) => status);
    assert.deepEqual(statuses, ['rejected', 'rejected']);
    assert.equal(await ask(), 2);
    assert.equal(await ask(), 2);
  });
});
