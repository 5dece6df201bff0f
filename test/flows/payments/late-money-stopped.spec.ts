import assert from 'node:assert/strict';
import { advanceClock } from '../../../shared/process/clock.js';
import { describeBothKinds } from '../../support/kinds.js';
import { checkLate, payAndBeDenied } from '../../support/late-money.js';
import { type ManualWorker, type MoneyFlow, openMoneyFlow } from '../../support/money-flow.js';

const EIGHT_DAYS_MS = 8 * 24 * 3_600_000;

describeBothKinds('a transfer that comes late while no worker runs for eight days', (kind) => {
  async function isFoundAlthough(
    firstCheck: (chain: MoneyFlow['chain'], blockBefore: number) => void,
    beforeStop?: (flow: MoneyFlow, worker: ManualWorker, paymentId: string) => Promise<void>,
  ): Promise<void> {
    const flow = await openMoneyFlow(`late_money_stopped_${kind}`, { worker: false, kind });
    try {
      flow.startNewBooks();
      const manualWorker = flow.openManualWorker();
      const { id } = await flow.buildSession();
      const blockBefore = flow.chain.head.number;
      const late = await payAndBeDenied(flow, manualWorker, id);
      await beforeStop?.(flow, manualWorker, late);
      advanceClock(EIGHT_DAYS_MS);
      firstCheck(flow.chain, blockBefore);
      await manualWorker.doNext(late);
      flow.chain.endpoint.recover();
      flow.chain.lag.clear();
      await manualWorker.doNext(late);
      const { status, paymentId } = await flow.session(id);
      assert.deepEqual([status, paymentId], ['complete', late]);
      await flow.assertBooks();
    } finally {
      await flow.close();
    }
  }

  it('is found although the first check then reads nothing', async () => {
    await isFoundAlthough((chain) => chain.endpoint.fail('http_500'));
  });

  it('is found although the first check then reads nothing, and the last one before saw only its use', async () => {
    await isFoundAlthough(
      (chain) => chain.endpoint.fail('http_500'),
      async (flow, worker, paymentId) => {
        flow.chain.hidesLogs = true;
        await checkLate(flow, worker, paymentId);
        flow.chain.hidesLogs = false;
      },
    );
  });

  it('is found although the first check then asks a node that stands at a block before it', async () => {
    await isFoundAlthough((chain, blockBefore) => {
      chain.endpoint.onCall = () => {};
      chain.lag.set('*', chain.head.number - blockBefore);
    });
  });
});
