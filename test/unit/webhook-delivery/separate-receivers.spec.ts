import assert from 'node:assert/strict';
import type { Sender, Sent } from '../../../workers/webhook-delivery/sender.js';
import { separateReceivers } from '../../../workers/webhook-delivery/separate-receivers.js';

const answered = (status: number, durationMs = 20): Sent => ({
  result: { kind: 'answered', status, answer: '' },
  durationMs,
});
const BAD: Record<string, Sent | Error> = {
  'a 500': answered(500),
  'a redirect': answered(302),
  'a slow 200': answered(200, 1001),
  'a 200 whose body is cut off': {
    result: { kind: 'answered', status: 200, answer: '', isCutOff: true },
    durationMs: 20,
  },
  'no answer': { result: { kind: 'unanswered', error: 'timeout' }, durationMs: 10_000 },
  'an error of the sender': new Error('the thread has ended'),
};

describe('the senders of webhooks', () => {
  let answer: Sent | Error;
  let opened: number;
  let closed: number[];
  let sender: Sender;
  beforeEach(() => {
    answer = answered(200);
    opened = 0;
    closed = [];
    sender = separateReceivers(() => {
      opened += 1;
      const number = opened;
      return {
        // The number of the sender is in its answers.
        send: async () => {
          if (answer instanceof Error) throw answer;
          return { ...answer, result: { ...answer.result, by: number } };
        },
        close: async () => {
          closed.push(number);
        },
      };
    });
  });

  /** The number of the sender that had the webhook; undefined when it failed. */
  async function sentBy(endpointId: string): Promise<unknown> {
    const webhook = {
      accountId: 'acct_1',
      endpointId,
      url: 'https://x.example',
      headers: {},
      body: Buffer.of(),
    };
    const sent = await sender.send(webhook).catch(() => undefined);
    return sent && Reflect.get(sent.result, 'by');
  }

  /** Opens the second sender. */
  async function failTwice(): Promise<void> {
    answer = answered(500);
    for (let tries = 0; tries < 2; tries += 1) await sentBy('bad');
    answer = answered(200);
  }

  it('are one while every endpoint answers well', async () => {
    for (const endpoint of ['a', 'b', 'a', 'c']) assert.equal(await sentBy(endpoint), 1);
    assert.equal(opened, 1);
  });

  for (const [name, bad] of Object.entries(BAD)) {
    it(`are two after ${name}, and the endpoint returns to the first with a good answer`, async () => {
      assert.equal(await sentBy('good'), 1);
      answer = bad;
      await sentBy('bad');
      answer = answered(204);
      assert.equal(await sentBy('bad'), 2);
      assert.equal(await sentBy('bad'), 1);
      assert.deepEqual([await sentBy('good'), opened], [1, 2]);
    });
  }

  it('are the second for endpoints of which no answer is known, once there is one', async () => {
    await failTwice();
    assert.equal(await sentBy('new'), 2);
    assert.equal(await sentBy('new'), 1);
  });

  it('keep many webhooks in flight to a good endpoint at the first', async () => {
    await failTwice();
    await sentBy('good');
    assert.deepEqual(await Promise.all([sentBy('good'), sentBy('good'), sentBy('good')]), [1, 1, 1]);
  });

  it('are closed together', async () => {
    await failTwice();
    await sender.close();
    assert.deepEqual(closed, [1, 2]);
  });
});
