import assert from 'node:assert/strict';
import { refuses } from '../../../lab/world/facilitator/dial.js';
import { PausePoint } from '../../../lab/world/processes/pause-points.js';
import { advanceClock, resetClock } from '../../../shared/process/clock.js';
import { settlePayment } from '../../../workers/jobs/settle-payment.js';
import { PAID } from '../../support/checkout.js';
import { forEachTest } from '../../support/hooks.js';
import { openMoneyFlow } from '../../support/money-flow.js';

describe('a worker that is paused for a minute', () => {
  /** Each test has a chain of its own, because blocks cannot go back in time with the clock. */
  const flow = forEachTest(() =>
    openMoneyFlow('paused_worker', { worker: false, environment: { SETTLE_WAIT_MS: '0' } }),
  );
  const manualWorker = forEachTest(() => flow.openManualWorker());
  afterEach(async () => {
    await PausePoint.removeAll();
    resetClock();
  });

  async function claim(): Promise<{ id: string; paymentId: string }> {
    const { id } = await flow.buildSession();
    assert.equal((await flow.pay(id)).status, 202);
    return { id, paymentId: (await flow.onlyPayment(id)).id };
  }

  /** Settles the payment, paused for so many seconds in the commit of this write. */
  async function settleWithPause(paymentId: string, written: string, seconds: number): Promise<void> {
    const pause = await PausePoint.put(flow.databaseUrl, {
      table: 'payments',
      on: 'UPDATE',
      when: `NEW.id = '${paymentId}' AND ${written}`,
      moment: 'commit',
    });
    const settling = settlePayment(manualWorker.deps, { paymentId });
    await pause.reached();
    advanceClock(seconds * 1000);
    await pause.release();
    await settling;
  }

  it('between its mark and /settle sends nothing, because another worker may have the payment by then', async () => {
    const { id, paymentId } = await claim();
    await settleWithPause(paymentId, `NEW.stage = 'confirm'`, 60);
    assert.equal(flow.facilitator.calls.settle.length, 0);
    const { stage, settleUnclear, history } = await flow.onlyPayment(id);
    assert.deepEqual([stage, settleUnclear], ['settle', false]);
    assert.equal(history.at(-1)?.said, 'not processed: taken too long ago');
    await manualWorker.doNext(paymentId);
    assert.deepEqual(await flow.state(id), PAID);
    await flow.assertBooks();
  });

  it('for less than its lease sends the payment that it has marked', async () => {
    const { id, paymentId } = await claim();
    await settleWithPause(paymentId, `NEW.stage = 'confirm'`, 20);
    assert.deepEqual(await flow.state(id), PAID);
    await flow.assertBooks();
  });

  it("during its call, after losing the payment to another worker, records the facilitator's answer", async () => {
    const { id, paymentId } = await claim();
    const held = flow.facilitator.settle.holdNext();
    const calls = flow.facilitator.calls.settle.length;
    const settling = settlePayment(manualWorker.deps, { paymentId });
    await flow.facilitator.waitForCall('settle', calls + 1);
    flow.chain.endpoint.fail('http_500');
    flow.facilitator.verify.always(refuses('unexpected_verify_error'));
    const other = flow.openManualWorker();
    await other.doNext(paymentId);
    held.release();
    await settling;
    // The chain cannot be read, but the facilitator has said that it settled.
    for (let checks = 0; checks < 60; checks += 1) await other.doNext(paymentId);
    assert.equal((await flow.onlyPayment(id)).status, 'processing');
    flow.chain.endpoint.recover();
    flow.facilitator.verify.honest();
    await other.doNext(paymentId);
    assert.deepEqual(await flow.state(id), PAID);
    await flow.assertBooks();
  });

  it('during its call, after another worker has decided, changes nothing', async () => {
    const { id, paymentId } = await claim();
    const held = flow.facilitator.settle.holdNext();
    const settling = settlePayment(manualWorker.deps, { paymentId });
    const calls = flow.facilitator.calls.settle.length;
    await flow.facilitator.waitForCall('settle', calls + 1);
    const other = flow.openManualWorker();
    // The lease has run out; the chain shows no transfer yet, and the payment is settled again.
    while ((await flow.onlyPayment(id)).status === 'processing') await other.doNext(paymentId);
    assert.deepEqual(await flow.state(id), PAID);
    held.release();
    await settling;
    assert.deepEqual(await flow.state(id), PAID);
    await flow.assertBooks();
  });
});
