import assert from 'node:assert/strict';
import type { Knex } from '../../../shared/db/knex.js';
import { readTogether } from '../../../shared/db/read-together.js';

describe('reads that are asked for together', () => {
  // Nobody sends anything to it: it only tells one database from another.
  const [db, other] = [{}, {}] as [Knex, Knex];
  let sent: string[][];
  const echo = async (_db: Knex, items: readonly string[]): Promise<string[]> => {
    sent.push([...items]);
    return items.map((item) => `${item}!`);
  };
  beforeEach(() => {
    sent = [];
  });

  it('is sent together, and each asker gets its own result', async () => {
    const ask = readTogether(echo);
    assert.deepEqual(await Promise.all(['a', 'b', 'c'].map((item) => ask(db, item))), ['a!', 'b!', 'c!']);
    assert.deepEqual(sent, [['a', 'b', 'c']]);
  });

  it('joins nothing that was sent before', async () => {
    const ask = readTogether(echo);
    await ask(db, 'a');
    await ask(db, 'b');
    assert.deepEqual(sent, [['a'], ['b']]);
  });

  it('is told apart by its database', async () => {
    const ask = readTogether(echo);
    await Promise.all([ask(db, 'a'), ask(other, 'b')]);
    assert.deepEqual(sent, [['a'], ['b']]);
  });

  it('is at most a hundred at a time', async () => {
    const ask = readTogether(echo);
    await Promise.all(Array.from({ length: 250 }, (_, index) => ask(db, String(index))));
    assert.deepEqual(
      sent.map(({ length }) => length),
      [100, 100, 50],
    );
  });

  it('fails for all who asked, and for nobody after them', async () => {
    const broken = new Error('away');
    let isAway = true;
    const ask = readTogether(async (_db: Knex, items: readonly string[]) => {
      if (isAway) throw broken;
      return [...items];
    });
    const answers = await Promise.allSettled([ask(db, 'a'), ask(db, 'b')]);
    assert.deepEqual(
      answers.map((answer) => answer.status === 'rejected' && answer.reason),
      [broken, broken],
    );
    isAway = false;
    assert.equal(await ask(db, 'c'), 'c');
  });
});
