import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type HeavyAnswer, openHeavyAnswers } from '../../../api/limits/heavy-answers.js';
import { heavyText, type ReadPart } from '../../../api/v1/operation/heavy-text.js';
import { ANSWER_PIECE_BYTES, HEAVY_ANSWERS } from '../../../shared/limits/bounds.js';
import type { Release } from '../../../shared/limits/budget.js';

const LIMITS = { ...HEAVY_ANSWERS, perAccount: 5, total: 8, slots: 4, slotsPerAccount: 2 };

describe('the slots of heavy answers', () => {
  /** Records which answer has got a slot. */
  function waitFor(answer: HeavyAnswer, name: string, given: string[]): Promise<Release> {
    return answer.takeSlot().then((release) => {
      given.push(name);
      return release;
    });
  }

  it('are limited per account, even while no other account wants any', async () => {
    const answers = openHeavyAnswers(LIMITS);
    const given: string[] = [];
    const [first] = ['a1', 'a2', 'a3'].map((name) => waitFor(answers.begin('a'), name, given));
    await nextTurn();
    assert.deepEqual(given, ['a1', 'a2']);
    (await first)?.();
    await nextTurn();
    assert.deepEqual(given, ['a1', 'a2', 'a3']);
  });

  it('go to the account with the fewest in flight, then to the answer that has waited longest', async () => {
    const answers = openHeavyAnswers({ ...LIMITS, slotsPerAccount: 3 });
    const given: string[] = [];
    const want = (name: string): Promise<Release> => waitFor(answers.begin(name.charAt(0)), name, given);
    const held = [want('a1'), want('a2'), want('a3'), want('b1')];
    for (const name of ['a4', 'b2', 'c1']) void want(name);
    await nextTurn();
    assert.deepEqual(given, ['a1', 'a2', 'a3', 'b1']);
    (await held[3])?.();
    await nextTurn();
    assert.equal(given[4], 'b2');
    (await held[0])?.();
    (await held[1])?.();
    await nextTurn();
    assert.deepEqual(given.slice(5), ['c1', 'a4']);
  });

  it('are for a limited number of answers per account and in total; the next is refused with the time to retry', () => {
    const answers = openHeavyAnswers(LIMITS);
    const begin = (account: string) => () => answers.begin(account);
    const refused = { code: 'rate_limit', details: { retryAfterSeconds: 1 } };
    const [first] = Array.from({ length: LIMITS.perAccount }, begin('a'));
    assert.throws(begin('a'), refused);
    Array.from({ length: LIMITS.total - LIMITS.perAccount }, begin('b'));
    assert.throws(begin('c'), refused);
    first?.end();
    assert.doesNotThrow(begin('c'));
    assert.throws(begin('c'), refused);
  });
});

describe('a heavy text', () => {
  const LONG = 'x'.repeat(ANSWER_PIECE_BYTES);
  const PIECES = Array.from({ length: 10 }, (_, index) => `${index}${LONG}`);

  function counted(pieces: readonly string[]): { read: ReadPart; reads(): number } {
    let reads = 0;
    return {
      read: async () => {
        reads += 1;
        return pieces;
      },
      reads: () => reads,
    };
  }

  it('holds no slot while its reader is stopped, and continues from the same position', async () => {
    const answers = openHeavyAnswers({ ...LIMITS, slots: 1 });
    const { read, reads } = counted(PIECES);
    const text = heavyText(answers, 'a', [read], { slotIdleMs: 1, slotKeptMs: 60_000 });
    let whole = (await text.next()).value;
    // The slot is free once it has been idle for its time.
    (await answers.begin('b').takeSlot())();
    for await (const piece of text) whole += piece;
    assert.equal(whole, PIECES.join(''));
    assert.ok(reads() >= 2);
  });

  it('continues from the same position after it has kept its slot for the maximum time', async () => {
    const { read, reads } = counted(PIECES);
    const text = heavyText(openHeavyAnswers(), 'a', [read], { slotIdleMs: 60_000, slotKeptMs: 0 });
    let whole = '';
    for await (const piece of text) whole += piece;
    assert.equal(whole, PIECES.join(''));
    assert.ok(reads() >= PIECES.length);
  });

  it('is read once for a reader that keeps up, with small pieces joined', async () => {
    const { read, reads } = counted(Array.from({ length: 1000 }, (_, index) => `${index},`));
    const pieces: string[] = [];
    for await (const piece of heavyText(openHeavyAnswers(), 'a', [read, read])) pieces.push(piece);
    assert.equal(pieces.length, 2);
    assert.equal(pieces[0], pieces[1]);
    assert.equal(reads(), 2);
  });

  for (const [how, endIt] of Object.entries({
    'its reader leaves halfway': (text: AsyncGenerator<string>) => text.return(undefined),
    'fails halfway': (text: AsyncGenerator<string>) => text.throw(new Error('gone')).catch(() => {}),
  })) {
    it(`that ${how} has released its slot and is no longer in flight`, async () => {
      const answers = openHeavyAnswers({ ...LIMITS, total: 1, slots: 1 });
      const text = heavyText(answers, 'a', [counted(PIECES).read]);
      await text.next();
      await endIt(text);
      (await answers.begin('b').takeSlot())();
    });
  }

  it('that cannot be read has released its slot', async () => {
    const answers = openHeavyAnswers({ ...LIMITS, total: 1, slots: 1 });
    const text = heavyText(answers, 'a', [() => Promise.reject(new Error('no database'))]);
    await assert.rejects(text.next(), /no database/);
    (await answers.begin('b').takeSlot())();
  });
});
