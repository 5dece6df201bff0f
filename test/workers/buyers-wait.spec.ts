import assert from 'node:assert/strict';
import { breaksAfterWork, failsToSettle } from '../../lab/world/facilitator/dial.js';
import { advanceClock, resetClock } from '../../shared/process/clock.js';
import { forAllTests } from '../support/hooks.js';
import { answerOf } from '../support/link-answers.js';
import { type ManualWorker, openMoneyFlow } from '../support/money-flow.js';
import { readSeries } from '../support/promql.js';

const NETWORK = 'eip155:84532';

describe("the measure of the buyer's wait", () => {
  const flow = forAllTests(() =>
    openMoneyFlow('buyers_wait', { environment: { SETTLE_WAIT_MS: '0' }, worker: false }),
  );
  afterEach(() => {
    resetClock();
    return flow.assertBooks();
  });

  async function claim(): Promise<{ worker: ManualWorker; paymentId: string }> {
    const { id } = await flow.buildSession();
    assert.equal(answerOf(await flow.pay(id)), '202 processing');
    const { id: paymentId } = await flow.onlyPayment(id);
    return { worker: flow.openManualWorker(), paymentId };
  }

  /** How many payments took at most so many seconds, and how many there were. */
  async function waits({ deps }: ManualWorker, seconds: string): Promise<[within: number, all: number]> {
    const text = await deps.metrics.own();
    const facilitator = new URL(flow.facilitator.url).host;
    const values = [seconds, '+Inf'].map((le) => {
      const line = text.split('\n').find((one) => {
        const [series] = one.startsWith('checkout_payment_wait_seconds_bucket') ? readSeries(one) : [];
        const { labels } = series ?? { labels: {} as Record<string, string> };
        return labels.facilitator === facilitator && labels.network === NETWORK && labels.le === le;
      });
      return Number(line?.split(' ').at(-1));
    });
    return [values[0] ?? Number.NaN, values[1] ?? Number.NaN];
  }

  it('begins with the arrival of the signature, and ends with the success', async () => {
    const { worker, paymentId } = await claim();
    assert.deepEqual(await waits(worker, '20'), [0, 0]);
    advanceClock(30_000);
    await worker.doNext(paymentId);
    assert.deepEqual(
      [await waits(worker, '20'), await waits(worker, '60')],
      [
        [0, 1],
        [1, 1],
      ],
    );
  });

  it('ends with a refusal', async () => {
    const { worker, paymentId } = await claim();
    flow.facilitator.settle.next(failsToSettle('kyt_risk_detected'));
    await worker.doNext(paymentId);
    assert.deepEqual(await waits(worker, '60'), [1, 1]);
  });

  it('does not end with an unclear answer, and ends with the check that decides', async () => {
    const { worker, paymentId } = await claim();
    flow.facilitator.settle.next(breaksAfterWork());
    await worker.doNext(paymentId);
    assert.deepEqual(await waits(worker, '60'), [0, 0]);
    await worker.doNext(paymentId);
    assert.deepEqual(await waits(worker, '60'), [1, 1]);
  });
});
