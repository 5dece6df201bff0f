import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { openUrlLookups } from '../../../api/v1/webhook-endpoints/url-lookups.js';
import { MAX_URL_LOOKUPS, MAX_URL_LOOKUPS_OF_ACCOUNT } from '../../../shared/limits/bounds.js';

const LONG_MS = 60_000;

describe("look-ups of webhook endpoints' names", () => {
  let answers: ((addresses: string[]) => void)[];
  beforeEach(() => {
    answers = [];
  });

  const hang = (): Promise<string[]> => new Promise((resolve) => answers.push(resolve));

  it('are in flight up to a number per account, and start when one has ended', async () => {
    const of = openUrlLookups(LONG_MS, hang);
    const all = Array.from({ length: MAX_URL_LOOKUPS_OF_ACCOUNT + 1 }, (_, n) => of('hog')(`${n}.example`));
    await nextTurn();
    assert.equal(answers.length, MAX_URL_LOOKUPS_OF_ACCOUNT);
    void of('other')('other.example');
    await nextTurn();
    assert.equal(answers.length, MAX_URL_LOOKUPS_OF_ACCOUNT + 1);
    answers[0]?.(['192.0.2.1']);
    assert.deepEqual(await all[0], ['192.0.2.1']);
    await nextTurn();
    assert.equal(answers.length, MAX_URL_LOOKUPS_OF_ACCOUNT + 2);
  });

  it('are in flight up to a number in all, and fail when none has ended in time', async () => {
    const of = openUrlLookups(1, hang);
    const all = Array.from({ length: MAX_URL_LOOKUPS + 1 }, (_, n) => of(`acct_${n}`)(`${n}.example`));
    await assert.rejects(all.at(-1) ?? Promise.resolve(), /too many look-ups/);
    assert.equal(answers.length, MAX_URL_LOOKUPS);
  });

  it('give their slot back when they fail', async () => {
    const of = openUrlLookups(LONG_MS, () => Promise.reject(new Error('ENOTFOUND')));
    for (let n = 0; n < 2 * MAX_URL_LOOKUPS_OF_ACCOUNT; n += 1)
      await assert.rejects(of('one')('none.example'), /ENOTFOUND/);
  });
});
