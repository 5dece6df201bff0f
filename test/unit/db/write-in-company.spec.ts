import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate as turnEnds } from 'node:timers/promises';
import { batchWrites } from '../../../shared/db/batch-writes.js';
import type { Knex } from '../../../shared/db/knex.js';

describe('writes that like company', () => {
  // Nobody sends anything to it.
  const db = {} as Knex;
  let sent: string[][];
  const open = (lingerMs: number) =>
    batchWrites<string, string>({
      keyOf: (item) => item,
      lingerMs,
      writeBatch: async (_db, items) => {
        sent.push([...items]);
        return [...items];
      },
      writeOne: async (_db, item) => item,
      onBrokenConnection: async (_db, item) => item,
    });
  beforeEach(() => {
    sent = [];
    mock.timers.enable({ apis: ['setTimeout'] });
  });
  afterEach(() => mock.timers.reset());

  it('wait for nobody as long as they come one by one', async () => {
    const write = open(4);
    for (const item of ['a', 'b', 'c']) await write(db, item);
    assert.deepEqual(sent, [['a'], ['b'], ['c']]);
  });

  it('wait a moment for others once they had some, and no longer when nobody came', async () => {
    const write = open(4);
    await Promise.all([write(db, 'a'), write(db, 'b')]);
    const first = write(db, 'c');
    await turnEnds();
    const second = write(db, 'd');
    await turnEnds();
    assert.deepEqual(sent, [['a', 'b']]);
    mock.timers.tick(4);
    await Promise.all([first, second]);
    assert.deepEqual(sent.at(-1), ['c', 'd']);
    const lonely = write(db, 'e');
    await turnEnds();
    assert.equal(sent.length, 2);
    mock.timers.tick(4);
    await lonely;
    await write(db, 'f');
    assert.deepEqual(sent.slice(2), [['e'], ['f']]);
  });

  it('leave at once when enough have come', async () => {
    const write = open(4);
    await Promise.all([write(db, 'a'), write(db, 'b')]);
    const ten = Array.from({ length: 10 }, (_, index) => `of ten ${index}`);
    await Promise.all(ten.map((item) => write(db, item)));
    assert.deepEqual(sent.at(-1), ten);
    await Promise.all([...ten.map((item) => write(db, item))]);
    assert.equal(sent.length, 3);
  });

  it('are those alone that say so', async () => {
    const write = open(0);
    await Promise.all([write(db, 'a'), write(db, 'b')]);
    await write(db, 'c');
    assert.deepEqual(sent, [['a', 'b'], ['c']]);
  });
});
