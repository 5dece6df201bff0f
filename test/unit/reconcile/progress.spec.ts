import assert from 'node:assert/strict';
import { openProgress, positionAt } from '../../../shared/reconcile/progress.js';

const MOST = 1000;

describe('the position of a list', () => {
  const waitIn = (blocks: Record<number, number>): ReturnType<typeof openProgress> => {
    const progress = openProgress([]);
    for (const [block, count] of Object.entries(blocks))
      for (let name = 0; name < count; name += 1) progress.waiting.set(`${block} ${name}`, Number(block));
    return progress;
  };

  for (const [what, blocks, position, kept] of [
    ['passes all that waits, where it keeps that', { 5: 1, 7: MOST - 1 }, 20, MOST],
    ['is the block of the first that it does not keep', { 5: 1, 7: MOST, 9: 1 }, 7, 1],
    ['passes a block in which more wait, or each run would begin there', { 7: MOST + 1, 9: 1 }, 8, MOST + 1],
  ] as const)
    it(what, () => {
      const next = positionAt(waitIn(blocks), 20);
      assert.deepEqual([next.position, next.unchecked?.length], [position, kept]);
    });
});
