import assert from 'node:assert/strict';
import { setImmediate as turnEnds } from 'node:timers/promises';
import { batchReads } from '../../../shared/db/batch-reads.js';
import type { Knex } from '../../../shared/db/knex.js';

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
    const ask = batchReads(echo);
    assert.deepEqual(await Promise.all(['a', 'b', 'c'].map((item) => ask(db, item))), ['a!', 'b!', 'c!']);
    assert.deepEqual(sent, [['a', 'b', 'c']]);
  });

  it('joins nothing that was sent before', async () => {
    const ask = batchReads(echo);
    await ask(db, 'a');
    await ask(db, 'b');
    assert.deepEqual(sent, [['a'], ['b']]);
  });

  it('is told apart by its database', async () => {
    const ask = batchReads(echo);
    await Promise.all([ask(db, 'a'), ask(other, 'b')]);
    assert.deepEqual(sent, [['a'], ['b']]);
  });

  it('is at most a hundred at a time', async () => {
    const ask = batchReads(echo);
    await Promise.all(Array.from({ length: 250 }, (_, index) => ask(db, String(index))));
    assert.deepEqual(
      sent.map(({ length }) => length),
      [100, 100, 50],
    );
  });

  it('fails for all who asked, and for nobody after them', async () => {
    const broken = new Error('away');
    let isAway = true;
    const ask = batchReads(async (_db: Knex, items: readonly string[]) => {
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

  describe('of which so many are on their way at once', () => {
    let answer: (() => void)[];
    let refuse: ((error: unknown) => void)[];
    const slowly = async (_db: Knex, items: readonly string[]): Promise<string[]> => {
      sent.push([...items]);
      await new Promise<void>((resolve, reject) => {
        answer.push(resolve);
        refuse.push(reject);
      });
      return [...items];
    };
    beforeEach(() => {
      answer = [];
      refuse = [];
    });

    it('wait in line, in the order in which they were asked for', async () => {
      const ask = batchReads(slowly, { maxKeys: 1, maxStatements: 2 });
      const answers = ['a', 'b', 'c', 'd'].map((item) => ask(db, item));
      await turnEnds();
      assert.deepEqual(sent, [['a'], ['b']]);
      answer[1]?.();
      assert.equal(await answers[1], 'b');
      assert.deepEqual(sent, [['a'], ['b'], ['c']]);
      answer[0]?.();
      assert.equal(await answers[0], 'a');
      assert.deepEqual(sent, [['a'], ['b'], ['c'], ['d']]);
    });

    it('go together once there is a place', async () => {
      const ask = batchReads(slowly, { maxKeys: 2, maxStatements: 1 });
      const answers = ['a', 'b', 'c'].map((item) => ask(db, item));
      await turnEnds();
      const late = ask(db, 'd');
      await turnEnds();
      answer[0]?.();
      assert.deepEqual(await Promise.all(answers.slice(0, 2)), ['a', 'b']);
      assert.deepEqual(sent, [
        ['a', 'b'],
        ['c', 'd'],
      ]);
      answer[1]?.();
      assert.equal(await late, 'd');
    });

    it('go on after one that failed, but wait for no database that is away', async () => {
      const ask = batchReads(slowly, { maxKeys: 1, maxStatements: 1 });
      const answers = ['a', 'b', 'c'].map((item) => ask(db, item).catch((error: Error) => error.message));
      await turnEnds();
      refuse[0]?.(new Error('it is wrong'));
      assert.equal(await answers[0], 'it is wrong');
      assert.deepEqual(sent, [['a'], ['b']]);
      refuse[1]?.(new Error('Query read timeout'));
      assert.equal(await answers[1], 'Query read timeout');
      assert.equal(await answers[2], 'Query read timeout');
      assert.deepEqual(sent, [['a'], ['b']]);
      const after = ask(db, 'd');
      await turnEnds();
      answer[2]?.();
      assert.equal(await after, 'd');
    });
  });
});
