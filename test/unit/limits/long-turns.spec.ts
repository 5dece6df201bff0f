import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { takeLongTurn } from '../../../api/limits/long-turns.js';
import { holdThread } from '../../support/hold-thread.js';

const PIECE_MS = 10;
const PAUSE_MS = 2 * PIECE_MS;

describe('long turns', () => {
  it('run one at a time, in order, each followed by a pause of twice its own length', async () => {
    const pieces: { n: number; from: number; to: number }[] = [];
    await Promise.all(
      [1, 2, 3, 4].map(async (n) => {
        await takeLongTurn();
        const from = performance.now();
        holdThread(PIECE_MS);
        pieces.push({ n, from, to: performance.now() });
      }),
    );
    const order = pieces.map(({ n }) => n);
    assert.deepEqual(order, [1, 2, 3, 4]);
    // Node's timers fire up to a millisecond early.
    for (const [n, { to }] of pieces.entries()) {
      const next = pieces[n + 1];
      if (next !== undefined) assert.ok(next.from - to >= PAUSE_MS - 1, `${next.from - to} ms`);
    }
  });

  it('leave the event loop to other work between two pieces', async () => {
    let isOver = false;
    let turns = 0;
    const between: number[] = [];
    const heavy = Promise.all(
      [1, 2, 3].map(async () => {
        await takeLongTurn();
        between.push(turns);
        turns = 0;
        holdThread(PIECE_MS);
      }),
    ).then(() => {
      isOver = true;
    });
    while (!isOver) {
      await nextTurn();
      turns += 1;
    }
    await heavy;
    assert.ok(
      between.slice(1).every((count) => count > 1),
      `${between}`,
    );
  });

  it('continue when the work of one fails', async () => {
    await assert.rejects(
      takeLongTurn().then(() => {
        throw new Error('broken');
      }),
    );
    await takeLongTurn();
  });
});
