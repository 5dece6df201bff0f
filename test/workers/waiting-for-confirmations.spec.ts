import assert from 'node:assert/strict';
import { breaksBeforeWork } from '../../lab/world/facilitator/dial.js';
import type { ChainFinding } from '../../shared/chains/finding.js';
import { nowMs, resetClock } from '../../shared/process/clock.js';
import { type ManualWorker, type MoneyFlow, openMoneyFlow } from '../support/money-flow.js';

const MINUTE_MS = 60_000;

describe('a payment whose transaction is not confirmed', () => {
  let flow: MoneyFlow;
  let worker: ManualWorker;
  before(async () => {
    flow = await openMoneyFlow('waiting_for_confirmations', {
      worker: false,
      environment: { SETTLE_WAIT_MS: '0' },
    });
    worker = flow.openManualWorker();
  });
  after(async () => {
    await flow.close();
    resetClock();
  });

  it('is told to a person five minutes after its end, and not failed', async () => {
    const { id } = await flow.buildSession();
    await flow.pay(id, { validBefore: BigInt(Math.floor((nowMs() + 5 * MINUTE_MS) / 1000)) });
    const { id: paymentId, validUntil } = await flow.onlyPayment(id);
    flow.facilitator.settle.next(breaksBeforeWork());
    const pending: ChainFinding = { kind: 'pending', transaction: '5'.repeat(87) };
    worker.deps.chains = { check: async () => pending, close: () => undefined };
    const errorsUntil = async (ms: number): Promise<unknown[]> => {
      while (nowMs() < validUntil.getTime() + ms) await worker.doNext(paymentId);
      return worker.log.filter(({ level }) => level === 'error').map(({ event, reason }) => [event, reason]);
    };
    assert.deepEqual(await errorsUntil(4 * MINUTE_MS), []);
    const told = ['payment.chain_unreadable', 'its transaction is not confirmed'];
    assert.deepEqual(await errorsUntil(6 * MINUTE_MS), [told]);
    assert.equal((await flow.onlyPayment(id)).status, 'processing');
  });
});
