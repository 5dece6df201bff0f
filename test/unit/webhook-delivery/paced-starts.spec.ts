import assert from 'node:assert/strict';
import { setImmediate as turnEnds } from 'node:timers/promises';
import { PacedStarts } from '../../../workers/webhook-delivery/paced-starts.js';

/** A start takes 2 ms of a turn's 5. */
const START_MS = 2;

describe('the starts of webhook tries', () => {
  let now: number;
  let started: string[];
  let starts: PacedStarts;
  beforeEach(() => {
    now = 0;
    started = [];
    starts = new PacedStarts(() => now);
  });

  const start = (accountId: string, count: number): Promise<unknown> =>
    Promise.all(
      Array.from({ length: count }, () =>
        starts.run(accountId, async () => {
          now += START_MS;
          started.push(accountId);
        }),
      ),
    );

  /** The starts of each turn, until all have begun. Everything else takes `othersMs` of each turn. */
  async function turns(count: number, othersMs: number): Promise<string[]> {
    const ofTurns = [started.join('')];
    while (ofTurns.join('').length < count) {
      const before = started.length;
      now += othersMs;
      await turnEnds();
      ofTurns.push(started.slice(before).join(''));
    }
    return ofTurns;
  }

  it('begin at once while they are few', async () => {
    for (let turn = 0; turn < 3; turn += 1) {
      await start('a', 2);
      await turnEnds();
    }
    assert.equal(started.join(''), 'aaaaaa');
  });

  it('share a part of each turn of the event loop', async () => {
    void start('a', 8);
    assert.deepEqual(await turns(8, 0), ['aaa', 'aaa', 'aa']);
  });

  it('are those of the accounts in turn', async () => {
    void start('a', 6);
    void start('b', 2);
    void start('c', 1);
    assert.deepEqual(await turns(9, 0), ['aaa', 'abc', 'aba']);
  });

  it('are one in each turn while turns are long, and more again afterwards', async () => {
    void start('a', 9);
    assert.deepEqual(await turns(6, 20), ['aaa', 'a', 'a', 'a']);
    assert.deepEqual(await turns(9, 0), ['aaaaaa', 'aaa']);
  });

  it('are held back by long turns for 2 s at most, since the leases of their deliveries run', async () => {
    void start('a', 9);
    assert.deepEqual(await turns(4, 20), ['aaa', 'a']);
    assert.deepEqual(await turns(9, 2000), ['aaaa', 'aaa', 'aa']);
  });

  it('wait for no turn when the last one was not measured', async () => {
    await start('a', 1);
    await turnEnds();
    now += 1000;
    await turnEnds();
    await turnEnds();
    now += 1000;
    void start('a', 2);
    assert.equal(started.join(''), 'aaa');
  });

  it('pass on what a try returns, and how it fails', async () => {
    const broken = new Error('broken');
    assert.equal(await starts.run('a', async () => 'done'), 'done');
    await assert.rejects(
      starts.run('a', () => Promise.reject(broken)),
      broken,
    );
    await start('a', 1);
  });
});
