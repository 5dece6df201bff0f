import assert from 'node:assert/strict';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { resetClock } from '../../../shared/process/clock.js';
import { createHandlers } from '../../../workers/process/handlers.js';
import { forAllTests } from '../../support/hooks.js';
import { answerOf } from '../../support/link-answers.js';
import { openMoneyFlow } from '../../support/money-flow.js';

const COUNT = 5;

describe('payments that share a job', () => {
  const flow = forAllTests(() =>
    openMoneyFlow('settled_together', { environment: { SETTLE_WAIT_MS: '0' }, worker: false }),
  );
  // The test calls the handlers itself, so that no queue is needed.
  const handlers = forAllTests(() => createHandlers(flow.openManualWorker().deps, undefined as never));
  afterEach(() => {
    resetClock();
    return flow.assertBooks();
  });

  /** Claims five payments, which no worker takes. */
  async function claim(): Promise<{ ids: string[]; payments: string[] }> {
    const ids: string[] = [];
    for (let n = 0; n < COUNT; n++) {
      const { id } = await flow.buildSession();
      assert.equal(answerOf(await flow.pay(id)), '202 processing');
      ids.push(id);
    }
    const payments = await Promise.all(ids.map(async (id) => (await flow.onlyPayment(id)).id));
    return { ids, payments };
  }

  async function settleTogether(
    [paymentId = '', ...others]: readonly string[],
    by = handlers,
  ): Promise<void> {
    const payload = { paymentId, others: others.map((other) => ({ paymentId: other })) };
    await by['settle-payment'](payload);
  }

  const statuses = async (ids: readonly string[]): Promise<string[]> =>
    await Promise.all(ids.map(async (id) => (await flow.session(id)).status));

  it('are not delayed by one whose call hangs', async () => {
    const { ids, payments } = await claim();
    const hold = flow.facilitator.settle.holdNext();
    const job = settleTogether(payments);
    await eventually(async () => {
      const open = (await statuses(ids)).filter((status) => status !== 'complete');
      assert.deepEqual(open, ['processing']);
    });
    hold.release();
    await job;
    assert.deepEqual(new Set(await statuses(ids)), new Set(['complete']));
  });

  it('are each paid once when the job is repeated and runs twice at once', async () => {
    const { ids, payments } = await claim();
    await Promise.all([
      settleTogether(payments),
      settleTogether([...payments].reverse()),
      settleTogether(payments),
    ]);
    await settleTogether(payments);
    assert.deepEqual(new Set(await statuses(ids)), new Set(['complete']));
  });

  it("are settled although one id is not a payment's", async () => {
    const { ids, payments } = await claim();
    // Whether Postgres rejects such an id depends on its query plan.
    await settleTogether(['not an id\0', ...payments]).catch(() => undefined);
    assert.deepEqual(new Set(await statuses(ids)), new Set(['complete']));
  });

  it('are settled although one of them fails with an error, and then the job fails', async () => {
    const { ids, payments } = await claim();
    const { deps } = flow.openManualWorker();
    const { facilitators } = deps;
    let fails = true;
    deps.facilitators = {
      ...facilitators,
      settleBy: async (...call) => {
        const verdict = await facilitators.settleBy(...call);
        if (!fails) return verdict;
        fails = false;
        throw new Error('an internal error after the money has moved');
      },
    };
    await assert.rejects(
      settleTogether(payments, createHandlers(deps, undefined as never)),
      /an internal error/,
    );
    const moved = await statuses(ids);
    const [lost = assert.fail(), ...others] = ids.filter((_id, index) => moved[index] !== 'complete');
    assert.deepEqual([(await flow.session(lost)).status, others], ['processing', []]);
    await flow.openManualWorker().doNext((await flow.onlyPayment(lost)).id);
    assert.equal((await flow.session(lost)).status, 'complete');
  });
});
