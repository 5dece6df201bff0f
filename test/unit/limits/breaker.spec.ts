import assert from 'node:assert/strict';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { type Breaker, openBreaker, StoreSilent } from '../../../shared/limits/breaker.js';

describe('a breaker before a store', () => {
  const told: string[] = [];
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
      ask,
      onSilent: () => told.push('silent'),
      onAnswering: () => told.push('answering'),
    });
  });
  after(() => breaker.close());

  it('lets answers and failures through', async () => {
    assert.equal(await breaker.run(ask), 'yes');
    await assert.rejects(
      breaker.run(() => Promise.reject(new Error('no'))),
      /^Error: no$/,
    );
    assert.deepEqual([breaker.isOpen(), told], [false, []]);
  });

  it('ends the wait of all who wait with the first of them, and nobody waits after them', async () => {
    answers = false;
    const first = Promise.allSettled(Array.from({ length: 5 }, () => breaker.run(ask)));
    for (const result of await first)
      assert.ok(result.status === 'rejected' && result.reason instanceof StoreSilent);
    const before = asked;
    const later = await Promise.allSettled(Array.from({ length: 100 }, () => breaker.run(ask)));
    assert.ok(later.every(({ status }) => status === 'rejected'));
    assert.ok(asked - before <= 1, 'only the breaker itself asks');
    assert.deepEqual([breaker.isOpen(), told], [true, ['silent']]);
  });

  it('closes when the store answers again', async () => {
    answers = true;
    await eventually(() => assert.equal(breaker.isOpen(), false));
    assert.equal(await breaker.run(ask), 'yes');
    assert.deepEqual(told, ['silent', 'answering']);
  });
});
