import assert from 'node:assert/strict';
import { throttleEndpoint } from '../../../shared/chains/rpc/throttled-endpoint.js';
import { MAX_PAGE_RPC_CALLS } from '../../../shared/limits/bounds.js';

describe('an RPC endpoint for buyers’ pages', () => {
  it('has so many calls in flight, and is free again when they end', async () => {
    const spared = throttleEndpoint();
    for (let round = 0; round < 2; round += 1) {
      const ends: (() => void)[] = [];
      const hang = () => new Promise<string>((resolve) => ends.push(() => resolve('read')));
      const calls = Array.from({ length: MAX_PAGE_RPC_CALLS }, () => spared(hang));
      const beyond = await spared(() => assert.fail('it is not called'));
      assert.deepEqual(beyond, { kind: 'unreadable', reason: 'too many calls at once' });
      for (const end of ends) end();
      assert.deepEqual(new Set(await Promise.all(calls)), new Set(['read']));
    }
  });

  it('gets no call for a moment after a failed one', async () => {
    const spared = throttleEndpoint();
    const failed = await spared(() => Promise.reject(new Error('gone')));
    assert.equal(await spared(() => assert.fail('it is not called')), failed);
  });
});
