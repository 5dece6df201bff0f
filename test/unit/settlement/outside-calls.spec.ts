import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createLogger } from '../../../shared/process/logger.js';
import { withResolvers } from '../../../shared/process/with-resolvers.js';
import { openCallsInFlight } from '../../../workers/settlement/calls-in-flight.js';
import {
  openOutsideCalls,
  type SlotAnswer,
  type SlotRequest,
} from '../../../workers/settlement/outside-calls.js';

const logger = createLogger('silent', 'test');
const request = (network: string, accountId = 'acct_1'): SlotRequest => ({
  network: `f.example ${network}`,
  accountId,
});

describe('the slots of /settle calls', () => {
  const calls = openOutsideCalls('settle-payment', 100, logger);

  /** Enters until refused. */
  async function fill(one: SlotRequest): Promise<SlotAnswer[]> {
    const taken: SlotAnswer[] = [];
    for (;;) {
      const slot = await calls.takeSlot(one);
      if (slot.kind === 'refused') return taken;
      taken.push(slot);
    }
  }

  it('leave some to every network and account, however many others hang', async () => {
    const hanging = await fill(request('a'));
    assert.equal(hanging.length, 57);
    assert.equal((await fill(request('a', 'acct_2'))).length, 14);
    const others = await fill(request('b', 'acct_1'));
    assert.ok(others.length >= 15, `${others.length}`);
    assert.equal((await calls.takeSlot({ ...request('a'), network: 'g.example a' })).kind, 'taken');
    for (const slot of hanging) if (slot.kind === 'taken') slot.release();
    assert.equal((await calls.takeSlot(request('a'))).kind, 'taken');
  });

  it('are waited for while calls of the same network are answered', async () => {
    const few = openOutsideCalls('settle-payment', 2, logger);
    const first = await few.takeSlot(request('a'));
    const second = few.takeSlot(request('a'));
    await nextTurn();
    if (first.kind === 'taken') first.release();
    assert.equal((await second).kind, 'taken');
  });
});

describe('the calls in flight of a network or account', () => {
  let atMs = 0;
  const open = () => {
    atMs = 0;
    return openCallsInFlight(() => atMs);
  };

  it('hang when a call is under way for over a second, and none was answered for as long', () => {
    const inFlight = open();
    assert.equal(inFlight.hangs(), false);
    const [end] = [inFlight.begin(), inFlight.begin()];
    atMs = 1000;
    assert.equal(inFlight.hangs(), false);
    atMs = 1001;
    assert.equal(inFlight.hangs(), true);
    end();
    assert.equal(inFlight.hangs(), false);
    atMs = 2002;
    assert.equal(inFlight.hangs(), true);
  });

  it('give payments that found no slot turns as far apart as slots get free', () => {
    const inFlight = open();
    for (let call = 0; call < 10; call += 1) inFlight.begin();
    assert.deepEqual([inFlight.nextTurnMs(), inFlight.nextTurnMs()], [1000, 1000]);
    atMs = 20_000;
    assert.deepEqual(
      [1, 2, 3, 4].map(() => inFlight.nextTurnMs()),
      [1000, 3000, 5000, 7000],
    );
    for (let turn = 0; turn < 10; turn += 1) inFlight.nextTurnMs();
    assert.equal(inFlight.nextTurnMs(), 15_000);
  });
});

describe('a job with payments to settle', () => {
  it('ends when each payment has ended or its call is slow, and what continues is waited for at the end', async () => {
    const calls = openOutsideCalls('settle-payment', 100, logger);
    const { promise: slow, resolve: answer } = withResolvers();
    const ended: string[] = [];
    await calls.runJob([
      async (calling) => {
        await calling(() => slow);
        ended.push('slow');
      },
      async (calling) => {
        await calling(async () => undefined);
        ended.push('quick');
      },
    ]);
    assert.deepEqual(ended, ['quick']);
    const closed = calls.close();
    answer();
    await closed;
    assert.deepEqual(ended, ['quick', 'slow']);
  });

  it('fails with its payment, after the others have ended', async () => {
    const calls = openOutsideCalls('settle-payment', 100, logger);
    let isEnded = false;
    const job = calls.runJob([
      () => Promise.reject(new Error('broken')),
      async () => {
        await nextTurn();
        isEnded = true;
      },
    ]);
    await assert.rejects(job, /broken/);
    assert.ok(isEnded);
  });
});
