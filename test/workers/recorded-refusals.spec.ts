import assert from 'node:assert/strict';
import { answers } from '../../lab/world/facilitator/dial.js';
import { resetClock } from '../../shared/process/clock.js';
import { type ManualWorker, type MoneyFlow, openMoneyFlow } from '../support/money-flow.js';

describe('a refusal with a word that a used authorization gets too', () => {
  let flow: MoneyFlow;
  let manualWorker: ManualWorker;
  before(async () => {
    flow = await openMoneyFlow('recorded_refusals', { worker: false, environment: { SETTLE_WAIT_MS: '0' } });
    manualWorker = flow.openManualWorker();
  });
  after(async () => {
    await flow.close();
    resetClock();
  });

  /** A facilitator refuses the payment, and looks at the chain see its authorization unused. */
  async function refuse({ looks }: { looks: number }): Promise<string> {
    const { id } = await flow.buildSession();
    assert.equal((await flow.pay(id)).status, 202);
    const payment = await flow.onlyPayment(id);
    const body = { success: false, errorReason: 'insufficient_funds', transaction: '' };
    flow.facilitator.settle.next(answers(200, body));
    await manualWorker.doNext(payment.id);
    for (let look = 0; look < looks; look += 1) await manualWorker.doNext(payment.id);
    const { status, failureCode } = await flow.onlyPayment(id);
    return `${status} ${failureCode}`;
  }

  it('is told once a look sees the authorization unused', async () => {
    assert.equal(await refuse({ looks: 2 }), 'failed insufficient_funds');
  });

  it('is not told while Postgres may have forgotten a call that can still use it: the payload is sent again', async () => {
    manualWorker.deps.commits.mayHaveLost = () => true;
    assert.doesNotMatch(await refuse({ looks: 2 }), /^failed/);
  });
});
