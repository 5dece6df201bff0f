import assert from 'node:assert/strict';
import { refuses } from '../../lab/world/facilitator/dial.js';
import { PausePoint } from '../../lab/world/processes/pause-points.js';
import { advanceClock, resetClock } from '../../shared/process/clock.js';
import { settlePayment } from '../../workers/jobs/settle-payment.js';
import { type Hands, type MoneyFlow, openMoneyFlow } from '../support/money-flow.js';

const PAID = { session: 'complete', payments: ['succeeded'], events: ['checkout.session.completed'] };

describe('a worker that stands still for a minute', () => {
  let flow: MoneyFlow;
  let hands: Hands;
  /** Each test has a chain of its own: its blocks do not go back with the clock. */
  beforeEach(async () => {
    flow = await openMoneyFlow('stood_still', { worker: false, environment: { SETTLE_WAIT_MS: '0' } });
    hands = flow.openHands();
  });
  afterEach(async () => {
    await PausePoint.removeAll();
    resetClock();
    await flow.close();
  });

  async function claim(): Promise<{ id: string; paymentId: string }> {
    const { id } = await flow.buildSession();
    assert.equal((await flow.pay(id)).status, 202);
    return { id, paymentId: (await flow.onlyPayment(id)).id };
  }

  /** Stands still where its write of this kind is committed, until the time has passed. */
  async function standStill(paymentId: string, written: string, seconds: number): Promise<void> {
    const pause = await PausePoint.put(flow.databaseUrl, {
      table: 'payments',
      on: 'UPDATE',
      when: `NEW.id = '${paymentId}' AND ${written}`,
      moment: 'commit',
    });
    const settling = settlePayment(hands.deps, { paymentId });
    await pause.reached();
    advanceClock(seconds * 1000);
    await pause.release();
    await settling;
  }

  it('between its mark and /settle sends nothing: another may have the payment by then', async () => {
    const { id, paymentId } = await claim();
    await standStill(paymentId, `NEW.stage = 'confirm'`, 60);
    assert.equal(flow.facilitator.calls.settle.length, 0);
    const { stage, settleUnclear, history } = await flow.onlyPayment(id);
    assert.deepEqual([stage, settleUnclear], ['settle', false]);
    assert.equal(history.at(-1)?.said, 'not processed: taken too long ago');
    await hands.doNext(paymentId);
    assert.deepEqual(await flow.state(id), PAID);
    await flow.assertBooks();
  });

  it('for a moment sends what it has marked', async () => {
    const { id, paymentId } = await claim();
    await standStill(paymentId, `NEW.stage = 'confirm'`, 20);
    assert.deepEqual(await flow.state(id), PAID);
    await flow.assertBooks();
  });

  it('in its call, and lost the payment meanwhile, passes on what it was told', async () => {
    const { id, paymentId } = await claim();
    const held = flow.facilitator.settle.holdNext();
    const calls = flow.facilitator.calls.settle.length;
    const settling = settlePayment(hands.deps, { paymentId });
    await flow.facilitator.waitForCall('settle', calls + 1);
    flow.chain.endpoint.fail('http_500');
    flow.facilitator.verify.always(refuses('unexpected_verify_error'));
    const other = flow.openHands();
    await other.doNext(paymentId);
    held.release();
    await settling;
    // Nobody can read the chain; but the facilitator has said that it settled.
    for (let looks = 0; looks < 60; looks += 1) await other.doNext(paymentId);
    assert.equal((await flow.onlyPayment(id)).status, 'processing');
    flow.chain.endpoint.recover();
    flow.facilitator.verify.honest();
    await other.doNext(paymentId);
    assert.deepEqual(await flow.state(id), PAID);
    await flow.assertBooks();
  });

  it('after its call, while another has decided, changes nothing', async () => {
    const { id, paymentId } = await claim();
    const held = flow.facilitator.settle.holdNext();
    const settling = settlePayment(hands.deps, { paymentId });
    const calls = flow.facilitator.calls.settle.length;
    await flow.facilitator.waitForCall('settle', calls + 1);
    const other = flow.openHands();
    // Its lease is over; the chain shows nothing yet, and the payment is settled again.
    while ((await flow.onlyPayment(id)).status === 'processing') await other.doNext(paymentId);
    assert.deepEqual(await flow.state(id), PAID);
    held.release();
    await settling;
    assert.deepEqual(await flow.state(id), PAID);
    await flow.assertBooks();
  });
});
