import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate as turnEnds } from 'node:timers/promises';
import { batchWrites, LINGER_MS } from '../../../shared/db/batch-writes.js';
import type { Knex } from '../../../shared/db/knex.js';

describe('batched writes with lingerMs', () => {
  // No statement goes to this database.
  const db = {} as Knex;
  let sent: string[][];
  const open = (lingerMs?: number) =>
    batchWrites<string, string>({
      keyOf: (item) => item,
      ...(lingerMs !== undefined && { lingerMs }),
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

  it('do not wait while they come one by one', async () => {
    const write = open(LINGER_MS);
    for (const item of ['a', 'b', 'c']) await write(db, item);
    assert.deepEqual(sent, [['a'], ['b'], ['c']]);
  });

  it('linger after a shared batch, and no longer after a batch of one', async () => {
    const write = open(LINGER_MS);
    await Promise.all([write(db, 'a'), write(db, 'b')]);
    const first = write(db, 'c');
    await turnEnds();
    const second = write(db, 'd');
    await turnEnds();
    assert.deepEqual(sent, [['a', 'b']]);
    mock.timers.tick(LINGER_MS);
    await Promise.all([first, second]);
    assert.deepEqual(sent.at(-1), ['c', 'd']);
    const single = write(db, 'e');
    await turnEnds();
    assert.equal(sent.length, 2);
    mock.timers.tick(LINGER_MS);
    await single;
    await write(db, 'f');
    assert.deepEqual(sent.slice(2), [['e'], ['f']]);
  });

  it('leave at once as a full batch', async () => {
    const write = open(LINGER_MS);
    await Promise.all([write(db, 'a'), write(db, 'b')]);
    const ten = Array.from({ length: 10 }, (_, index) => `of ten ${index}`);
    await Promise.all(ten.map((item) => write(db, item)));
    assert.deepEqual(sent.at(-1), ten);
    await Promise.all([...ten.map((item) => write(db, item))]);
    assert.equal(sent.length, 3);
  });

  it('do not linger without it', async () => {
    const write = open();
    await Promise.all([write(db, 'a'), write(db, 'b')]);
    await write(db, 'c');
    assert.deepEqual(sent, [['a', 'b'], ['c']]);
  });
});
