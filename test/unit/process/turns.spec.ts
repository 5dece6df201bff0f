import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Turns } from '../../../api/process/turns.js';
import { holdThread } from '../../support/hold-thread.js';

describe('turns of connections', () => {
  it('are taken one after another, and again after all others', async () => {
    const turns = new Turns();
    const taken: string[] = [];
    const taker = (name: string, times: number) => {
      let left = times;
      const self = {
        takeTurn() {
          taken.push(name);
          left -= 1;
          if (left > 0) turns.add(self);
        },
      };
      return self;
    };
    for (const [name, times] of [
      ['a', 3],
      ['b', 1],
      ['c', 2],
    ] as const)
      turns.add(taker(name, times));
    assert.deepEqual(taken, []);
    while (taken.length < 6) await nextTurn();
    assert.deepEqual(taken, ['a', 'b', 'c', 'a', 'c', 'a']);
  });

  it('leave the event loop to others after a while', async () => {
    const turns = new Turns();
    let taken = 0;
    const busy = {
      takeTurn() {
        taken += 1;
        turns.add(busy);
        holdThread(1);
      },
    };
    turns.add(busy);
    await nextTurn();
    await nextTurn();
    // The turns would go on without end, had they not been interrupted.
    assert.ok(taken > 0);
    busy.takeTurn = () => {};
  });
});
