import assert from 'node:assert/strict';
import { dealSlots } from '../../../shared/webhooks/slots.js';

const endpoint = (id: string, host: string, most = 10) => ({ id, host, most });

describe('dealing slots to endpoints', () => {
  it('gives the slots to the endpoints in turn', () => {
    const dealt = dealSlots([endpoint('a', 'h'), endpoint('b', 'h'), endpoint('c', 'g')], {
      slots: 5,
      ofHost: () => 100,
    });
    assert.deepEqual([...dealt.values()], [2, 2, 1]);
  });

  it('gives no endpoint and no host more than its limit', () => {
    const endpoints = [endpoint('a', 'h', 2), endpoint('b', 'h'), endpoint('c', 'g')];
    const dealt = dealSlots(endpoints, { slots: 50, ofHost: (host) => (host === 'h' ? 5 : 100) });
    assert.deepEqual([...dealt.values()], [2, 3, 10]);
  });

  it('ends when no endpoint can take a slot', () => {
    assert.equal(dealSlots([], { slots: 5, ofHost: () => 5 }).size, 0);
    assert.deepEqual([...dealSlots([endpoint('a', 'h')], { slots: 5, ofHost: () => 0 }).values()], [0]);
  });
});
