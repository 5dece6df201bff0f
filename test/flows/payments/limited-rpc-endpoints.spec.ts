import assert from 'node:assert/strict';
import { breaksAfterWork, breaksBeforeWork } from '../../../lab/world/facilitator/dial.js';
import { advanceClock, nowMs, resetClock } from '../../../shared/process/clock.js';
import { FAILED, PAID } from '../../support/checkout.js';
import { forEachTest } from '../../support/hooks.js';
import { openMoneyFlow } from '../../support/money-flow.js';

const MOST_CHECKS = 40;
/** Blocks of an hour at two seconds each, made since the claim. */
const BLOCKS_SINCE = 1800;

describe('a payment whose answer of /settle was lost, on an endpoint that', () => {
  /** Each test has a chain of its own, and makes its blocks. */
  const flow = forEachTest(() =>
    openMoneyFlow('narrow_endpoint', { worker: false, environment: { SETTLE_WAIT_MS: '0' } }),
  );
  const manualWorker = forEachTest(() => flow.openManualWorker());
  afterEach(resetClock);

  /** Cuts the call of /settle, after the money has moved or before. */
  async function payAndLoseAnswer(moved: 'moved' | 'unmoved'): Promise<string> {
    const { id } = await flow.buildSession();
    assert.equal((await flow.pay(id)).status, 202);
    flow.facilitator.settle.next(moved === 'moved' ? breaksAfterWork() : breaksBeforeWork());
    await manualWorker.doNext((await flow.onlyPayment(id)).id);
    return id;
  }

  async function checkUntilDecided(id: string, mostChecks = MOST_CHECKS): Promise<string> {
    for (let checks = 0; checks < mostChecks; checks += 1) {
      const { id: paymentId, status } = await flow.onlyPayment(id);
      if (status !== 'processing') return status;
      await manualWorker.doNext(paymentId);
    }
    return 'processing';
  }

  /** test/unit/chains/narrow-endpoints.spec.ts has other ranges, and endpoints that keep old state. */
  it('searches ten blocks at once and keeps no old state: the payment is found an hour later', async () => {
    const id = await payAndLoseAnswer('moved');
    flow.chain.maxLogRange = 10;
    flow.chain.keepsState = 0;
    flow.chain.mineAt(2, BLOCKS_SINCE);
    advanceClock(3_600_000);
    assert.equal(await checkUntilDecided(id), 'succeeded');
    assert.deepEqual(await flow.state(id), PAID);
    await flow.assertBooks();
  });

  it('returns no logs: the payment does not fail after its end, and succeeds once they are returned', async () => {
    const id = await payAndLoseAnswer('moved');
    flow.chain.hidesLogs = true;
    advanceClock(3_600_000);
    assert.equal(await checkUntilDecided(id), 'processing');
    flow.chain.hidesLogs = false;
    assert.equal(await checkUntilDecided(id), 'succeeded');
    await flow.assertBooks();
  });

  it('rate-limits eth_getLogs: the payment does not fail, and succeeds once it answers', async () => {
    const id = await payAndLoseAnswer('moved');
    flow.chain.endpoint.fail('http_429', 'eth_getLogs');
    advanceClock(3_600_000);
    assert.equal(await checkUntilDecided(id), 'processing');
    flow.chain.endpoint.recover();
    assert.equal(await checkUntilDecided(id), 'succeeded');
    await flow.assertBooks();
  });

  it('has no new blocks: the payment does not fail, and succeeds when a later block has its transaction', async () => {
    const { id } = await flow.buildSession();
    const signed = await flow.sign(id);
    assert.equal((await flow.visit(id, { 'PAYMENT-SIGNATURE': signed.header })).status, 202);
    flow.chain.halt();
    // The facilitator has sent the transaction, which waits for a block.
    flow.facilitator.settle.next(breaksAfterWork());
    flow.facilitator.settle.always(breaksBeforeWork());
    await manualWorker.doNext((await flow.onlyPayment(id)).id);
    const until = nowMs() + 3_600_000;
    while (nowMs() < until) {
      assert.equal(await checkUntilDecided(id, 10), 'processing');
    }
    flow.facilitator.settle.honest();
    flow.chain.resume();
    assert.equal(await checkUntilDecided(id), 'succeeded');
    assert.deepEqual(await flow.state(id), PAID);
    await flow.assertBooks();
  });

  it('searches ten blocks at once: the payment fails once its end has passed and no money moved', async () => {
    const id = await payAndLoseAnswer('unmoved');
    flow.chain.maxLogRange = 10;
    flow.chain.keepsState = 0;
    advanceClock(600_000);
    assert.equal(await checkUntilDecided(id), 'failed');
    assert.deepEqual(await flow.state(id), FAILED);
    await flow.assertBooks();
  });
});
