import assert from 'node:assert/strict';
import { setImmediate as turnEnds } from 'node:timers/promises';
import { batchReads } from '../../../shared/db/batch-reads.js';
import type { Knex } from '../../../shared/db/knex.js';

describe('batched reads', () => {
  // Nothing is sent to this database: it only identifies a batch.
  const [db, other] = [{}, {}] as [Knex, Knex];
  let sent: string[][];
  const echo = async (_db: Knex, items: readonly string[]): Promise<string[]> => {
    sent.push([...items]);
    return items.map((item) => `${item}!`);
  };
  beforeEach(() => {
    sent = [];
  });

  it('are sent together, and each caller gets its own result', async () => {
    const ask = batchReads(echo);
    assert.deepEqual(await Promise.all(['a', 'b', 'c'].map((item) => ask(db, item))), ['a!', 'b!', 'c!']);
    assert.deepEqual(sent, [['a', 'b', 'c']]);
  });

  it('do not join a batch that was sent before', async () => {
    const ask = batchReads(echo);
    await ask(db, 'a');
    await ask(db, 'b');
    assert.deepEqual(sent, [['a'], ['b']]);
  });

  it('are batched per database', async () => {
    const ask = batchReads(echo);
    await Promise.all([ask(db, 'a'), ask(other, 'b')]);
    assert.deepEqual(sent, [['a'], ['b']]);
  });

  it('are at most a hundred per batch', async () => {
    const ask = batchReads(echo);
    await Promise.all(Array.from({ length: 250 }, (_, index) => ask(db, String(index))));
    assert.deepEqual(
      sent.map(({ length }) => length),
      [100, 100, 50],
    );
  });

  it('fail for all callers of the batch, and for no later ones', async () => {
    const broken = new Error('unavailable');
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

  describe('with a limit of batches in flight', () => {
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

    it('wait for a slot in the order of their calls', async () => {
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

    it('are sent together once a slot is free', async () => {
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

    it('continue after a failed batch, but do not wait for an unavailable database', async () => {
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
