import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Response } from 'express';
import { sharedDocument } from '../../../api/checkout-page/compressed.js';
import { holdThread } from '../../support/hold-thread.js';

const TEXT = 'the same for all '.repeat(1000);
const MANY = 20;
/** More than the answers of a turn may take together. */
const HELD_MS = 6;

describe('a document that is the same for all', () => {
  let sent: { turn: number; bytes: Buffer }[];
  let turn: number;
  beforeEach(() => {
    [sent, turn] = [[], 0];
  });

  const answer = (): Response =>
    ({
      req: { method: 'GET', get: () => 'gzip, br' },
      setHeader: () => undefined,
      end(bytes: Buffer) {
        sent.push({ turn, bytes });
        holdThread(HELD_MS);
      },
    }) as never;

  it('is written and compressed once, and sent to those who wait for it in several turns of the event loop', async () => {
    let written = 0;
    const send = sharedDocument(() => {
      written += 1;
      return TEXT;
    });
    const all = Promise.all(Array.from({ length: MANY }, () => send(answer())));
    for (; sent.length < MANY; turn += 1) await nextTurn();
    await all;
    assert.equal(written, 1);
    assert.equal(new Set(sent.map((one) => one.turn)).size, MANY);
    assert.ok(sent.every(({ bytes }) => bytes === sent[0]?.bytes && bytes.length < TEXT.length));
  });

  it('that could not be written is written with the next request', async () => {
    let written = 0;
    const send = sharedDocument(() => {
      written += 1;
      if (written === 1) throw new Error('no memory');
      return TEXT;
    });
    await assert.rejects(send(answer()), /no memory/);
    await send(answer());
    assert.equal(sent.length, 1);
  });
});
