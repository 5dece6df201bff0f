import assert from 'node:assert/strict';
import { answers } from '../../lab/world/facilitator/dial.js';
import { correctClock, nowMs, unmockedHostMs } from '../../shared/process/clock.js';
import { settlePayment } from '../../workers/jobs/settle-payment.js';
import { forAllTests } from '../support/hooks.js';
import { openMoneyFlow } from '../support/money-flow.js';

describe('a refusal with a word that a used authorization gets too', () => {
  const flow = forAllTests(() =>
    openMoneyFlow('recorded_refusals', { worker: false, environment: { SETTLE_WAIT_MS: '0' } }),
  );
  const manualWorker = forAllTests(() => flow.openManualWorker());

  const REFUSED = answers(200, { success: false, errorReason: 'insufficient_funds', transaction: '' });

  /** A facilitator refuses the payment, and chain checks see its authorization unused. */
  async function refuse({ checks }: { checks: number }): Promise<string> {
    const { id } = await flow.buildSession();
    assert.equal((await flow.pay(id)).status, 202);
    const payment = await flow.onlyPayment(id);
    flow.facilitator.settle.next(REFUSED);
    await manualWorker.doNext(payment.id);
    for (let check = 0; check < checks; check += 1) await manualWorker.doNext(payment.id);
    return await outcomeOf(id);
  }

  async function outcomeOf(id: string): Promise<string> {
    const { status, failureCode } = await flow.onlyPayment(id);
    return `${status} ${failureCode}`;
  }

  it('is told once a check sees the authorization unused', async () => {
    assert.equal(await refuse({ checks: 2 }), 'failed insufficient_funds');
  });

  it("is not told by a block from before its call, though Postgres' clock was an hour back during the call", async () => {
    const { id } = await flow.buildSession();
    assert.equal((await flow.pay(id)).status, 202);
    const { id: paymentId } = await flow.onlyPayment(id);
    let chainTime = new Date(nowMs() - 1);
    const { chains } = manualWorker.deps;
    manualWorker.deps.chains = {
      check: async () => ({ kind: 'unused', chainTime, exhausted: false }),
      close: () => undefined,
    };
    flow.facilitator.settle.next(REFUSED);
    const setPostgres = (aheadMs: number): void => {
      const at = unmockedHostMs();
      correctClock(at + aheadMs, { askedAtMs: at, answeredAtMs: at });
    };
    setPostgres(-3_600_000);
    await settlePayment(manualWorker.deps, { paymentId }).finally(() => setPostgres(0));
    await manualWorker.doNext(paymentId);
    assert.match(await outcomeOf(id), /^processing/);
    chainTime = new Date(nowMs() + 1000);
    await manualWorker.doNext(paymentId);
    assert.equal(await outcomeOf(id), 'failed insufficient_funds');
    manualWorker.deps.chains = chains;
  });

  it('is not told while Postgres may have forgotten a call that can still use it: the payload is sent again', async () => {
    manualWorker.deps.commits.mayHaveLost = () => true;
    assert.doesNotMatch(await refuse({ checks: 2 }), /^failed/);
  });
});
