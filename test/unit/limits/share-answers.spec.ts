import assert from 'node:assert/strict';
import { shareAnswers } from '../../../shared/limits/share-answers.js';

const HOUR_MS = 3_600_000;

describe('a shared answer', () => {
  function counted(forMs: number, keys = 10) {
    const asked: string[] = [];
    const shared = shareAnswers<string>({ forMs, keys });
    const ask = (key: string) =>
      shared(key, async () => {
        asked.push(key);
        await new Promise(setImmediate);
        if (key === 'bad') throw new Error('no');
        return key;
      });
    return { asked, ask };
  }

  it('takes one call for all callers while it is in flight', async () => {
    const { asked, ask } = counted(0);
    assert.deepEqual(await Promise.all([ask('a'), ask('a'), ask('b')]), ['a', 'a', 'b']);
    assert.deepEqual(asked, ['a', 'b']);
  });

  it('serves callers for a while afterwards, and is called again later', async () => {
    const kept = counted(HOUR_MS);
    await kept.ask('a');
    await kept.ask('a');
    assert.deepEqual(kept.asked, ['a']);
    const old = counted(0);
    await old.ask('a');
    await old.ask('a');
    assert.deepEqual(old.asked, ['a', 'a']);
  });

  it('shares a failure among all callers', async () => {
    const { asked, ask } = counted(HOUR_MS);
    const tries = [ask('bad'), ask('bad')];
    for (const one of tries) await assert.rejects(one, /no/);
    await assert.rejects(ask('bad'), /no/);
    assert.deepEqual(asked, ['bad']);
  });

  it('is kept for a limited number of keys', async () => {
    const { asked, ask } = counted(HOUR_MS, 2);
    for (const key of ['a', 'b', 'c', 'a']) await ask(key);
    assert.deepEqual(asked, ['a', 'b', 'c', 'a']);
  });
});
