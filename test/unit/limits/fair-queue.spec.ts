import assert from 'node:assert/strict';
import { type FairQueue, openFairQueue } from '../../../shared/limits/fair-queue.js';

const LONG_MS = 60_000;
const UNLIMITED = { total: Number.POSITIVE_INFINITY };

describe('a fair queue', () => {
  const open: FairQueue[] = [];
  const queueOf = (options: Partial<Parameters<typeof openFairQueue>[0]> = {}): FairQueue => {
    const queue = openFairQueue({ limits: UNLIMITED, slotsInFlight: () => 0, ...options });
    open.push(queue);
    return queue;
  };
  afterEach(() => {
    for (const queue of open.splice(0)) queue.close();
  });

  /** Settles all waiting callers in order and returns their first holders. */
  function serveAll(queue: FairQueue, mayStart: (holder: string) => boolean = () => true): string[] {
    const order: string[] = [];
    for (;;) {
      const next = queue.next(([holder = '']) => mayStart(holder));
      if (next === undefined) return order;
      order.push(next.holders[0] ?? '');
      next.settle(() => undefined);
    }
  }

  it('serves the longest waiting caller that may start', () => {
    const queue = queueOf();
    for (const holder of ['a', 'b', 'a', 'c']) void queue.wait(LONG_MS, [holder]);
    assert.deepEqual(
      serveAll(queue, (holder) => holder !== 'a'),
      ['b', 'c'],
    );
    assert.deepEqual(serveAll(queue), ['a', 'a']);
  });

  it('serves the holder with the fewest slots in flight first, and among equals the longest waiting', () => {
    const inFlight: Record<string, number> = { a: 2, b: 1, c: 1 };
    const queue = queueOf({ slotsInFlight: ([holder = '']) => inFlight[holder] ?? 0 });
    for (const holder of ['a', 'b', 'c', 'd']) void queue.wait(LONG_MS, [holder]);
    assert.deepEqual(serveAll(queue), ['d', 'b', 'c', 'a']);
  });

  it('gives the slot to the settled caller', async () => {
    const queue = queueOf();
    const slot = (): void => {};
    const waiting = queue.wait(LONG_MS, ['a']);
    queue.next(() => true)?.settle(slot);
    assert.equal(await waiting, slot);
    assert.equal(
      queue.next(() => true),
      undefined,
    );
  });

  it('refuses a caller after its time limit, and keeps the others', async () => {
    const queue = queueOf();
    const [hasty, patient] = [queue.wait(1, ['a']), queue.wait(Number.POSITIVE_INFINITY, ['b'])];
    assert.equal(await hasty, undefined);
    assert.deepEqual(serveAll(queue), ['b']);
    assert.ok(await patient);
  });

  it('limits the callers in total and per holder, and refuses more at once', async () => {
    const queue = queueOf({ limits: { total: 3, perHolder: [2] } });
    for (const holder of ['a', 'a']) void queue.wait(LONG_MS, [holder, 'host']);
    assert.equal(await queue.wait(LONG_MS, ['a', 'other host']), undefined);
    void queue.wait(LONG_MS, ['b']);
    assert.equal(await queue.wait(LONG_MS, ['c']), undefined);
    queue.next(() => true)?.settle(undefined);
    void queue.wait(LONG_MS, ['a']);
    assert.deepEqual(serveAll(queue), ['a', 'b', 'a']);
  });

  it('refuses waiting and later callers once it is closed', async () => {
    const queue = queueOf();
    const waiting = queue.wait(LONG_MS, ['a']);
    queue.close();
    assert.deepEqual([await waiting, await queue.wait(LONG_MS, ['b'])], [undefined, undefined]);
  });
});
