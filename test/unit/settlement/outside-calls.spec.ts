import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createLogger } from '../../../shared/process/logger.js';
import { withResolvers } from '../../../shared/process/with-resolvers.js';
import { type Caller, type Entered, openOutsideCalls } from '../../../workers/settlement/outside-calls.js';
import { openHolder } from '../../../workers/settlement/slot-holder.js';

const logger = createLogger('silent', 'test');
const caller = (network: string, accountId = 'acct_1'): Caller => ({
  network: `f.example ${network}`,
  accountId,
});

describe('the slots of /settle calls', () => {
  const calls = openOutsideCalls('settle-payment', 100, logger);

  /** Enters until refused. */
  async function fill(one: Caller): Promise<Entered[]> {
    const entered: Entered[] = [];
    for (;;) {
      const slot = await calls.enter(one);
      if (slot.kind === 'refused') return entered;
      entered.push(slot);
    }
  }

  it('leave some to every network and account, however many others hang', async () => {
    const hanging = await fill(caller('a'));
    assert.equal(hanging.length, 57);
    assert.equal((await fill(caller('a', 'acct_2'))).length, 14);
    const others = await fill(caller('b', 'acct_1'));
    assert.ok(others.length >= 15, `${others.length}`);
    assert.equal((await calls.enter({ ...caller('a'), network: 'g.example a' })).kind, 'entered');
    for (const slot of hanging) if (slot.kind === 'entered') slot.release();
    assert.equal((await calls.enter(caller('a'))).kind, 'entered');
  });

  it('are waited for while calls of the holder are answered', async () => {
    const few = openOutsideCalls('settle-payment', 2, logger);
    const first = await few.enter(caller('a'));
    const second = few.enter(caller('a'));
    await nextTurn();
    if (first.kind === 'entered') first.release();
    assert.equal((await second).kind, 'entered');
  });
});

describe('the holder of slots', () => {
  let atMs = 0;
  const open = () => {
    atMs = 0;
    return openHolder(() => atMs);
  };

  it('hangs when a call is under way for over a second, and none was answered for as long', () => {
    const holder = open();
    assert.equal(holder.hangs(), false);
    const [end] = [holder.begin(), holder.begin()];
    atMs = 1000;
    assert.equal(holder.hangs(), false);
    atMs = 1001;
    assert.equal(holder.hangs(), true);
    end();
    assert.equal(holder.hangs(), false);
    atMs = 2002;
    assert.equal(holder.hangs(), true);
  });

  it('gives payments that found no slot turns as far apart as its slots get free', () => {
    const holder = open();
    for (let call = 0; call < 10; call += 1) holder.begin();
    assert.deepEqual([holder.nextTurnMs(), holder.nextTurnMs()], [1000, 1000]);
    atMs = 20_000;
    assert.deepEqual(
      [1, 2, 3, 4].map(() => holder.nextTurnMs()),
      [1000, 3000, 5000, 7000],
    );
    for (let turn = 0; turn < 10; turn += 1) holder.nextTurnMs();
    assert.equal(holder.nextTurnMs(), 15_000);
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
