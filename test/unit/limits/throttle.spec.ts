import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { About } from '../../../shared/limits/account-pauses.js';
import { openRateLimiter } from '../../../shared/limits/rate-limiter.js';
import { type Entry, openThrottle, type Throttle } from '../../../shared/limits/throttle.js';

const SOON = 60_000;

const about = (network: string, account = 'shop'): About => ({ network, account });

describe('a throttle', () => {
  const open: Throttle[] = [];
  const throttleOf = (slots: () => number, intervalMs = 0): Throttle => {
    const throttle = openThrottle({ rate: openRateLimiter(() => intervalMs), slots });
    open.push(throttle);
    return throttle;
  };
  afterEach(() => {
    for (const throttle of open.splice(0)) throttle.close();
  });
  const release = (entry: Entry): void => {
    assert.ok(entry.kind === 'entered');
    entry.release();
  };
  const assertRefused = (entry: Entry, forMs: number, mostMs = Number.POSITIVE_INFINITY): void => {
    assert.ok(entry.kind === 'refused' && entry.retryAfterMs > forMs && entry.retryAfterMs <= mostMs);
  };

  it('admits calls up to its slots, and then the one that has waited longest', async () => {
    const throttle = throttleOf(() => 2);
    const order: string[] = [];
    const enter = (name: string): Promise<Entry> =>
      throttle.enter(SOON).then((entry) => {
        order.push(name);
        return entry;
      });
    const [first, second] = [await enter('a'), await enter('b')];
    const [third, fourth] = [enter('c'), enter('d')];
    release(first);
    release(await third);
    release(await fourth);
    release(second);
    assert.deepEqual(order, ['a', 'b', 'c', 'd']);
  });

  it('refuses a call after its time limit, and gives the slot to the next', async () => {
    const throttle = throttleOf(() => 1);
    const first = await throttle.enter(SOON);
    const [hasty, patient] = [throttle.enter(1), throttle.enter(SOON)];
    assert.equal((await hasty).kind, 'refused');
    release(first);
    release(await patient);
  });

  it('refuses a call at once whose turn comes too late, with the time of that turn, and releases its slot', async () => {
    const throttle = throttleOf(() => 1, 30_000);
    release(await throttle.enter(1000));
    for (let call = 0; call < 2; call += 1) {
      assertRefused(await throttle.enter(1000), 20_000);
    }
  });

  it('admits no call during a pause that began after its turn was granted', async () => {
    const throttle = throttleOf(() => 10, 20);
    release(await throttle.enter(SOON));
    const waiting = throttle.enter(SOON);
    const began = performance.now();
    // The turn is granted at this point.
    await nextTurn();
    throttle.pause(100);
    release(await waiting);
    assert.ok(performance.now() - began >= 99);
  });

  it('pauses one network, whose calls hold no slot meanwhile', async () => {
    const throttle = throttleOf(() => 1);
    throttle.pause(30_000, 'a');
    const waiting = throttle.enter(SOON, about('a'));
    release(await throttle.enter(0, about('b')));
    assertRefused(await throttle.enter(0, about('a')), 20_000);
    throttle.close();
    assert.equal((await waiting).kind, 'refused');
  });

  it('pauses all calls while two networks are paused, until the first pause ends', async () => {
    const throttle = throttleOf(() => 1);
    throttle.pause(40_000, 'a');
    throttle.pause(20_000, 'b');
    await nextTurn();
    for (const network of ['c', undefined]) {
      const refused = await throttle.enter(0, network === undefined ? undefined : about(network));
      assertRefused(refused, 10_000, 20_000);
    }
  });

  it('lets a pause of one network that is asked for twice hold back that network only', async () => {
    const throttle = throttleOf(() => 1);
    throttle.pause(20_000, 'a');
    throttle.pause(20_000, 'a');
    await nextTurn();
    release(await throttle.enter(0, about('b')));
  });

  it('keeps a call out whose network was paused while it waited for a slot', async () => {
    const throttle = throttleOf(() => 1);
    const first = await throttle.enter(SOON, about('a'));
    const waiting = throttle.enter(5000, about('a'));
    await nextTurn();
    throttle.pause(30_000, 'a');
    release(first);
    assert.equal((await waiting).kind, 'refused');
    release(await throttle.enter(0, about('b')));
  });

  it('pauses one account on one network, and no other', async () => {
    const throttle = throttleOf(() => 4);
    throttle.pauseAccount(30_000, about('a'), 'buyer');
    assertRefused(await throttle.enter(0, about('a')), 20_000);
    for (const other of [about('a', 'another shop'), about('b')]) release(await throttle.enter(0, other));
  });

  it('pauses a network while two of its accounts pause because of different payers', async () => {
    const throttle = throttleOf(() => 4);
    throttle.pauseAccount(30_000, about('a', 'one'), 'buyer');
    throttle.pauseAccount(20_000, about('a', 'two'), 'buyer');
    release(await throttle.enter(0, about('a', 'three')));
    throttle.pauseAccount(20_000, about('b', 'two'), 'another buyer');
    release(await throttle.enter(0, about('a', 'three')));
    throttle.pauseAccount(20_000, about('a', 'two'), 'another buyer');
    assertRefused(await throttle.enter(0, about('a', 'three')), 10_000, 20_000);
    release(await throttle.enter(0, about('b', 'three')));
  });

  it('leaves slots to the next network', async () => {
    const throttle = throttleOf(() => 16);
    const entered = async (network: string): Promise<number> => {
      let count = 0;
      while ((await throttle.enter(0, about(network))).kind === 'entered') count += 1;
      return count;
    };
    assert.deepEqual([await entered('a'), await entered('b'), await entered('c')], [12, 3, 1]);
  });

  it('follows changes of the number of slots', async () => {
    let slots = 1;
    const throttle = throttleOf(() => slots);
    const first = await throttle.enter(SOON);
    slots = 2;
    const second = await throttle.enter(SOON);
    slots = 1;
    release(second);
    assert.equal((await throttle.enter(1)).kind, 'refused');
    release(first);
    release(await throttle.enter(SOON));
  });

  it('refuses waiting and later calls once it is closed', async () => {
    const throttle = throttleOf(() => 2, 30_000);
    const first = await throttle.enter(SOON);
    const [atTurn, atSlot] = [throttle.enter(SOON), throttle.enter(SOON)];
    await nextTurn();
    throttle.close();
    for (const entry of await Promise.all([atTurn, atSlot, throttle.enter(SOON)]))
      assert.equal(entry.kind, 'refused');
    release(first);
  });
});
