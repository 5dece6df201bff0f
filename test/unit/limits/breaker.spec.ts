import assert from 'node:assert/strict';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { type Breaker, BreakerOpen, openBreaker } from '../../../shared/limits/breaker.js';

describe('a breaker before a store', () => {
  const events: string[] = [];
  let asked = 0;
  let answers = true;
  let breaker: Breaker;
  const never = (): Promise<never> => new Promise(() => {});
  const ask = (): Promise<string> => {
    asked += 1;
    return answers ? Promise.resolve('yes') : never();
  };
  before(() => {
    breaker = openBreaker({
      probe: ask,
      onOpened: () => events.push('opened'),
      onClosed: () => events.push('closed'),
    });
  });
  after(() => breaker.close());

  it('passes answers and failures on', async () => {
    assert.equal(await breaker.run(ask), 'yes');
    await assert.rejects(
      breaker.run(() => Promise.reject(new Error('no'))),
      /^Error: no$/,
    );
    assert.deepEqual([breaker.isOpen(), events], [false, []]);
  });

  it('opens at the first call without an answer in time: all calls in flight fail, and later ones at once', async () => {
    answers = false;
    const first = Promise.allSettled(Array.from({ length: 5 }, () => breaker.run(ask)));
    for (const result of await first)
      assert.ok(result.status === 'rejected' && result.reason instanceof BreakerOpen);
    const before = asked;
    const later = await Promise.allSettled(Array.from({ length: 100 }, () => breaker.run(ask)));
    assert.ok(later.every(({ status }) => status === 'rejected'));
    assert.ok(asked - before <= 1, 'only the breaker itself asks');
    assert.deepEqual([breaker.isOpen(), events], [true, ['opened']]);
  });

  it('closes when the store answers again', async () => {
    answers = true;
    await eventually(() => assert.equal(breaker.isOpen(), false));
    assert.equal(await breaker.run(ask), 'yes');
    assert.deepEqual(events, ['opened', 'closed']);
  });
});
