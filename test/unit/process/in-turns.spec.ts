import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { inTurns } from '../../../shared/process/in-turns.js';

describe('callers that waited for the same answer', () => {
  it('go on in their order, a few in each turn of the event loop', async () => {
    const turns: number[][] = [];
    let turn: number[] = [];
    for (let n = 0; n < 12; n += 1) inTurns(() => turn.push(n));
    assert.deepEqual(turn, [], 'none goes on at once');
    while (turns.flat().length < 12) {
      await nextTurn();
      turns.push(turn);
      turn = [];
    }
    assert.deepEqual(turns.flat(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    assert.ok(turns.every((each) => each.length <= 5));
  });
});
