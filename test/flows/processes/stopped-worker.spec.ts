import assert from 'node:assert/strict';
import { eventually } from '../../../lab/world/processes/eventually.js';
import {
  killProcesses,
  type ServiceProcess,
  startWorkerProcess,
} from '../../../lab/world/processes/processes.js';
import { Payment } from '../../../shared/payments/model.js';
import { PAID } from '../../support/checkout.js';
import { forAllTests } from '../../support/hooks.js';
import { openMoneyFlow } from '../../support/money-flow.js';
import { testServices } from '../../support/suite.js';

const CONCURRENCY = 3;
const COUNT = 20;

const STORES = [
  { store: 'Redis', redisUrl: () => testServices().redisUrl },
  { store: 'Postgres', redisUrl: () => '' },
];

for (const { store, redisUrl } of STORES) {
  describe(`a worker told to stop, with the queue in ${store}`, () => {
    const flow = forAllTests(() =>
      openMoneyFlow(`stopped_worker_${store.toLowerCase()}`, {
        worker: false,
        environment: { REDIS_URL: redisUrl(), SETTLE_WAIT_MS: '0' },
      }),
    );
    const start = () =>
      startWorkerProcess({
        ...flow.settings,
        REDIS_URL: redisUrl(),
        WORKER_CONCURRENCY: String(CONCURRENCY),
      });
    afterEach(killProcesses);

    async function claim(): Promise<string> {
      const { id } = await flow.buildSession();
      assert.equal((await flow.pay(id)).status, 202);
      return id;
    }

    async function stop(worker: ServiceProcess): Promise<void> {
      worker.signal('SIGTERM');
      await worker.logged('process.stopping');
    }

    /** Asserts an orderly exit: after 25 seconds the process would end itself with 1. */
    async function assertLeft(worker: ServiceProcess): Promise<void> {
      assert.deepEqual(await worker.exited, { code: 0, signal: null }, worker.output());
      const events = worker.lines().map(({ event }) => event);
      assert.deepEqual(
        events.filter((event) => String(event).startsWith('process.')),
        ['process.stopping'],
      );
    }

    /** A job that stays active is handed to another worker only when its lock expires. */
    async function assertNoActiveJob(): Promise<void> {
      for (const { queue, states } of await flow.app.queues.depths()) assert.equal(states.active, 0, queue);
    }

    it('under load completes what it has begun, and leaves the rest to the next worker', async () => {
      const sessions = await Promise.all(Array.from({ length: COUNT }, claim));
      const held = flow.facilitator.settle.holdAll();
      const first = await start();
      await flow.facilitator.waitForCall('settle', CONCURRENCY);
      await stop(first);
      flow.facilitator.settle.honest();
      held.release();
      await assertLeft(first);
      await assertNoActiveJob();

      const payments = await Payment.query(flow.db);
      const left = payments.filter(({ status }) => status === 'processing');
      assert.equal(left.length, COUNT - flow.facilitator.ledger.length);
      assert.ok(left.length > 0, 'it stopped only after the last payment');
      for (const { stage, attempt } of left) assert.deepEqual([stage, attempt], ['settle', 0]);

      const next = await flow.startWorker();
      for (const id of sessions) await eventually(async () => assert.deepEqual(await flow.state(id), PAID));
      assert.equal(flow.facilitator.calls.settle.length, COUNT, 'a call of /settle was repeated');
      await flow.assertBooks();
      await next.close();
    });

    // The job of a hanging /settle ends like the others, so that the store makes no difference.
    if (store === 'Postgres') return;
    it('during a hanging /settle stops in time, and another worker finds the transfer on the chain', async () => {
      flow.startNewBooks();
      const calls = flow.facilitator.calls.settle.length;
      const held = flow.facilitator.settle.holdNext();
      const id = await claim();
      const first = await start();
      const call = await flow.facilitator.waitForCall('settle', calls + 1);
      await stop(first);
      await assertLeft(first);
      await assertNoActiveJob();
      const { stage, history } = await flow.onlyPayment(id);
      assert.deepEqual([stage, history.map(({ said }) => said)], ['confirm', ['unclear: UND_ERR_DESTROYED']]);

      await flow.startWorker();
      await eventually(async () => {
        assert.equal((await flow.onlyPayment(id)).history.at(-1)?.said, 'unused');
      });
      held.release();
      await call.done;
      await eventually(async () => assert.deepEqual(await flow.state(id), PAID));
      assert.equal(flow.facilitator.calls.settle.length, calls + 1, 'the call of /settle was repeated');
      await flow.assertBooks();
    });
  });
}
