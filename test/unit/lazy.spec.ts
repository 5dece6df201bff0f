import assert from 'node:assert/strict';
import { lazy } from '../../shared/process/lazy.js';

describe('what is loaded lazily', () => {
  it('is loaded when it is first asked for, once for all who ask', async () => {
    let loads = 0;
    const ask = lazy(async () => ++loads);
    assert.equal(loads, 0);
    assert.deepEqual(await Promise.all([ask(), ask()]), [1, 1]);
    assert.equal(await ask(), 1);
  });

  it('is loaded again when it could not be, and not in vain for ever', async () => {
    let loads = 0;
    const ask = lazy(async () => {
      if (++loads === 1) throw new Error('not there');
      return loads;
    });
    const together = await Promise.allSettled([ask(), ask()]);
    assert.deepEqual(
      together.map(({ status }) => status),
      ['rejected', 'rejected'],
    );
    assert.equal(await ask(), 2);
    assert.equal(await ask(), 2);
  });
});
