import assert from 'node:assert/strict';
import { type Entry, type Line, openLine } from '../../../shared/limits/line.js';
import { ownPace, type Pace } from '../../../shared/limits/pace.js';
import { shareOfCalls, shareOfConnections } from '../../../shared/limits/share.js';
import { sharedPace } from '../../../shared/limits/shared-pace.js';

const SOON = 60_000;

describe('the pace of a process by itself', () => {
  let atMs = 1000;
  const pace = (intervalMs = 100): Pace =>
    ownPace(
      () => intervalMs,
      () => atMs,
    );

  it('gives turns an interval apart, and takes none that comes too late', async () => {
    const own = pace();
    const taken = [await own.take(SOON), await own.take(SOON), await own.take(SOON)];
    assert.deepEqual(
      taken.map(({ waitMs }) => waitMs),
      [0, 100, 200],
    );
    assert.deepEqual(await own.take(299), { granted: false, waitMs: 300 });
    assert.deepEqual(await own.take(300), { granted: true, waitMs: 300 });
  });

  it('saves nothing up', async () => {
    const own = pace();
    await own.take(SOON);
    atMs += 10_000;
    assert.deepEqual([(await own.take(SOON)).waitMs, (await own.take(SOON)).waitMs], [0, 100]);
  });

  it('gives no turn in a pause, the longest that was asked for', async () => {
    const own = pace();
    own.pause(500);
    own.pause(200);
    assert.equal(await own.pausedMs(), 500);
    assert.deepEqual([(await own.take(SOON)).waitMs, (await own.take(SOON)).waitMs], [500, 600]);
    atMs += 500;
    assert.equal(await own.pausedMs(), 0);
  });
});

describe('the pace of all processes', () => {
  const away = { run: () => Promise.reject(new Error('away')) };

  it('is that of each by itself while its store does not answer', async () => {
    const alone = ownPace(() => 100);
    const pace = sharedPace({ store: away, key: 'k', intervalMs: 10, alone });
    assert.equal((await pace.take(SOON)).waitMs, 0);
    assert.ok((await pace.take(SOON)).waitMs > 50);
    pace.pause(5000);
    assert.ok((await pace.take(SOON)).waitMs > 4000);
  });

  it('counts nothing where nothing is to be counted, and keeps to a pause all the same', async () => {
    const pace = sharedPace({ store: away, key: 'k', intervalMs: undefined, alone: ownPace(() => 0) });
    pace.pause(5000);
    const { granted, waitMs } = await pace.take(1000);
    assert.deepEqual([granted, waitMs > 4000], [false, true]);
  });
});

describe('the line before the facilitator', () => {
  const open: Line[] = [];
  const lineOf = (places: () => number, pace: Pace = ownPace(() => 0)): Line => {
    const line = openLine({ pace, places });
    open.push(line);
    return line;
  };
  afterEach(() => {
    for (const line of open.splice(0)) line.close();
  });
  const leave = (entry: Entry): void => {
    assert.equal(entry.kind, 'entered');
    if (entry.kind === 'entered') entry.leave();
  };

  it('lets so many in at once, and then whoever has waited longest', async () => {
    const line = lineOf(() => 2);
    const order: string[] = [];
    const enter = (name: string): Promise<Entry> =>
      line.enter(SOON).then((entry) => {
        order.push(name);
        return entry;
      });
    const [first, second] = [await enter('a'), await enter('b')];
    const [third, fourth] = [enter('c'), enter('d')];
    leave(first);
    leave(await third);
    leave(await fourth);
    leave(second);
    assert.deepEqual(order, ['a', 'b', 'c', 'd']);
  });

  it('refuses who has waited in vain, and gives that place to the next', async () => {
    const line = lineOf(() => 1);
    const first = await line.enter(SOON);
    const [hasty, patient] = [line.enter(1), line.enter(SOON)];
    assert.equal((await hasty).kind, 'refused');
    leave(first);
    leave(await patient);
  });

  it('refuses at once whose turn comes too late, and says when it would have come', async () => {
    const line = lineOf(
      () => 10,
      ownPace(() => 30_000),
    );
    leave(await line.enter(1000));
    const refused = await line.enter(1000);
    assert.equal(refused.kind, 'refused');
    assert.ok(refused.kind === 'refused' && refused.forMs > 20_000);
  });

  it('sends nobody out in a pause that began after the turn was given', async () => {
    const line = lineOf(
      () => 10,
      ownPace(() => 20),
    );
    leave(await line.enter(SOON));
    const waiting = line.enter(SOON);
    const began = performance.now();
    line.pause(100);
    leave(await waiting);
    assert.ok(performance.now() - began >= 99);
  });

  it('follows how many places there are', async () => {
    let places = 1;
    const line = lineOf(() => places);
    const first = await line.enter(SOON);
    places = 2;
    const second = await line.enter(SOON);
    places = 1;
    leave(second);
    assert.equal((await line.enter(1)).kind, 'refused');
    leave(first);
    leave(await line.enter(SOON));
  });

  it('refuses everybody once it is closed', async () => {
    const line = lineOf(
      () => 2,
      ownPace(() => 30_000),
    );
    const first = await line.enter(SOON);
    const [atTurn, atPlace] = [line.enter(SOON), line.enter(SOON)];
    line.close();
    const refused = await Promise.all([atTurn, atPlace, line.enter(SOON)]);
    assert.deepEqual(
      refused.map(({ kind }) => kind),
      ['refused', 'refused', 'refused'],
    );
    leave(first);
  });
});

describe('the share of a process', () => {
  const CALLERS = { web: 2, worker: 2 };

  it('is of connections a quarter for web and three for workers, of calls a half for each', () => {
    assert.equal(shareOfConnections(100, 'web', CALLERS), 12);
    assert.equal(shareOfConnections(100, 'worker', CALLERS), 37);
    assert.equal(shareOfCalls('web', CALLERS), 0.25);
    assert.equal(shareOfCalls('worker', { web: 3, worker: 1 }), 0.5);
  });

  it('is all of it where there is nobody else, and one connection at least', () => {
    assert.equal(shareOfConnections(100, 'worker', { web: 0, worker: 1 }), 100);
    assert.equal(shareOfCalls('web', { web: 1, worker: 0 }), 1);
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
