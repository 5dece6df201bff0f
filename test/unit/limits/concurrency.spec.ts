import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Release } from '../../../shared/limits/budget.js';
import {
  type Concurrency,
  type ConcurrencyLimits,
  openConcurrency,
} from '../../../shared/limits/concurrency.js';

const LONG_MS = 60_000;

describe('a concurrency limiter', () => {
  const open: Concurrency[] = [];
  const limiterOf = (limits: ConcurrencyLimits): Concurrency => {
    const limiter = openConcurrency(limits);
    open.push(limiter);
    return limiter;
  };
  afterEach(() => {
    for (const limiter of open.splice(0)) limiter.close();
  });

  /** Requests a slot for each name, whose first letter is its holder; `started` lists the names that got one, in order. */
  function ask(limiter: Concurrency, names: readonly string[]) {
    const started: string[] = [];
    const releases = new Map<string, Release>();
    for (const name of names)
      void limiter.take(LONG_MS, name.charAt(0)).then((release) => {
        if (release === undefined) return;
        started.push(name);
        releases.set(name, release);
      });
    const end = async (name: string): Promise<void> => {
      (releases.get(name) ?? assert.fail(`${name} has no slot`))();
      await nextTurn();
    };
    return { started, end };
  }

  it('limits the slots in total and per holder, and starts a waiting caller when a slot is released', async () => {
    const limiter = limiterOf({ total: 3, perHolder: [2] });
    const { started, end } = ask(limiter, ['a1', 'a2', 'a3', 'b1', 'b2']);
    await nextTurn();
    assert.deepEqual(started, ['a1', 'a2', 'b1']);
    await end('b1');
    assert.deepEqual(started.slice(3), ['b2']);
    await end('a1');
    assert.deepEqual(started.slice(4), ['a3']);
  });

  it('starts one caller per slot, however often it is released', async () => {
    const limiter = limiterOf({ total: 1 });
    const { started, end } = ask(limiter, ['a', 'b', 'c']);
    await nextTurn();
    await end('a');
    await end('a');
    assert.deepEqual(started, ['a', 'b']);
  });

  for (const [order, expected] of [
    ['longest waiting', ['a3', 'b1']],
    ['fewest in flight', ['b1', 'a3']],
  ] as const) {
    it(`starts in the order of the ${order}`, async () => {
      const limiter = limiterOf({ total: 3, perHolder: [3], order });
      const { started, end } = ask(limiter, ['a1', 'a2', 'c1', 'a3', 'b1']);
      await nextTurn();
      await end('c1');
      await end('a1');
      assert.deepEqual(started.slice(3), expected);
    });
  }

  it('gives a caller that does not wait a slot at once or not at all', () => {
    const limiter = limiterOf({ total: 2, perHolder: [1] });
    const release = limiter.tryTake('a') ?? assert.fail();
    assert.equal(limiter.tryTake('a'), undefined);
    assert.ok(limiter.tryTake('b'));
    assert.equal(limiter.tryTake('c'), undefined);
    release();
    assert.ok(limiter.tryTake('a'));
  });

  it('gives new slots to waiting callers before later ones, when its total grows', async () => {
    let total = 1;
    const limiter = limiterOf({ total: () => total });
    const { started } = ask(limiter, ['a', 'b']);
    await nextTurn();
    total = 2;
    const late = limiter.take(1);
    await nextTurn();
    assert.deepEqual(started, ['a', 'b']);
    assert.equal(await late, undefined);
  });

  it('limits how long a caller waits and how many callers wait', async () => {
    const limiter = limiterOf({ total: 1, waiting: { total: 1 } });
    const release = (await limiter.take(LONG_MS)) ?? assert.fail();
    const waiting = limiter.take(1);
    assert.equal(await limiter.take(LONG_MS), undefined, 'one waits already');
    assert.equal(await waiting, undefined);
    const next = limiter.take(LONG_MS);
    release();
    assert.ok(await next, 'the place of the one that waited is free again');
  });

  it('refuses waiting and later callers once it is closed', async () => {
    const limiter = limiterOf({ total: 1 });
    const release = (await limiter.take(LONG_MS)) ?? assert.fail();
    const waiting = limiter.take(LONG_MS);
    limiter.close();
    assert.equal(await waiting, undefined);
    release();
    assert.deepEqual([await limiter.take(LONG_MS), limiter.tryTake()], [undefined, undefined]);
  });
});
