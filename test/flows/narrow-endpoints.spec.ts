import assert from 'node:assert/strict';
import { breaksAfterWork, breaksBeforeWork } from '../../lab/world/facilitator/dial.js';
import { advanceClock, nowMs, resetClock } from '../../shared/process/clock.js';
import { type Hands, type MoneyFlow, openMoneyFlow } from '../support/money-flow.js';

const PAID = { session: 'complete', payments: ['succeeded'], events: ['checkout.session.completed'] };
const FAILED = { session: 'open', payments: ['failed'], events: [] };
const MOST_LOOKS = 40;
/** Of a chain with blocks every two seconds, since the claim. */
const BLOCKS_SINCE = 1800;

describe('a payment whose answer was lost, on an endpoint that', () => {
  let flow: MoneyFlow;
  let hands: Hands;
  /** Each test has a chain of its own, whose blocks it makes. */
  beforeEach(async () => {
    flow = await openMoneyFlow('narrow_endpoint', { worker: false, environment: { SETTLE_WAIT_MS: '0' } });
    hands = flow.openHands();
  });
  afterEach(async () => {
    resetClock();
    await flow.close();
  });

  /** The call of /settle was cut: after the money had moved, or before. */
  async function losesItsAnswer(moved: 'moved' | 'unmoved'): Promise<string> {
    const { id } = await flow.buildSession();
    assert.equal((await flow.pay(id)).status, 202);
    flow.facilitator.settle.next(moved === 'moved' ? breaksAfterWork() : breaksBeforeWork());
    await hands.doNext((await flow.onlyPayment(id)).id);
    return id;
  }

  async function lookUntilDecided(id: string, mostLooks = MOST_LOOKS): Promise<string> {
    for (let looks = 0; looks < mostLooks; looks += 1) {
      const { id: paymentId, status } = await flow.onlyPayment(id);
      if (status !== 'processing') return status;
      await hands.doNext(paymentId);
    }
    return 'processing';
  }

  for (const range of [10, 100, 2000]) {
    for (const keepsState of [0, Number.POSITIVE_INFINITY]) {
      const state = keepsState === 0 ? 'no old state' : 'all old state';
      it(`searches ${range} blocks at once and keeps ${state}: is found, an hour later`, async () => {
        const id = await losesItsAnswer('moved');
        flow.chain.maxLogRange = range;
        flow.chain.keepsState = keepsState;
        flow.chain.mineAt(2, BLOCKS_SINCE);
        advanceClock(3_600_000);
        assert.equal(await lookUntilDecided(id), 'succeeded');
        assert.deepEqual(await flow.state(id), PAID);
        await flow.assertBooks();
      });
    }
  }

  it('shows no logs, long after its end: is not failed, and is paid when they are there', async () => {
    const id = await losesItsAnswer('moved');
    flow.chain.hidesLogs = true;
    advanceClock(3_600_000);
    assert.equal(await lookUntilDecided(id), 'processing');
    flow.chain.hidesLogs = false;
    assert.equal(await lookUntilDecided(id), 'succeeded');
    await flow.assertBooks();
  });

  it('answers some calls only, and limits the others: is not failed', async () => {
    const id = await losesItsAnswer('moved');
    flow.chain.endpoint.fail('http_429', 'eth_getLogs');
    advanceClock(3_600_000);
    assert.equal(await lookUntilDecided(id), 'processing');
    flow.chain.endpoint.recover();
    assert.equal(await lookUntilDecided(id), 'succeeded');
    await flow.assertBooks();
  });

  it('stands still before its end: is not failed while it does, and what lands when it goes on is paid', async () => {
    const { id } = await flow.buildSession();
    const signed = await flow.sign(id);
    assert.equal((await flow.visit(id, { 'PAYMENT-SIGNATURE': signed.header })).status, 202);
    flow.chain.halt();
    // The facilitator has sent the transaction, which waits with the chain.
    flow.facilitator.settle.next(breaksAfterWork());
    flow.facilitator.settle.always(breaksBeforeWork());
    await hands.doNext((await flow.onlyPayment(id)).id);
    const until = nowMs() + 3_600_000;
    while (nowMs() < until) {
      assert.equal(await lookUntilDecided(id, 10), 'processing');
    }
    flow.facilitator.settle.honest();
    flow.chain.goOn();
    assert.equal(await lookUntilDecided(id), 'succeeded');
    assert.deepEqual(await flow.state(id), PAID);
    await flow.assertBooks();
  });

  it('searches ten blocks at once: is failed once its end has passed, when nothing has moved', async () => {
    const id = await losesItsAnswer('unmoved');
    flow.chain.maxLogRange = 10;
    flow.chain.keepsState = 0;
    advanceClock(600_000);
    assert.equal(await lookUntilDecided(id), 'failed');
    assert.deepEqual(await flow.state(id), FAILED);
    await flow.assertBooks();
  });
});
