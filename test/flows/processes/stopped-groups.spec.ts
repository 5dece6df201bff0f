import assert from 'node:assert/strict';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { killProcesses, type ServiceProcess, startService } from '../../../lab/world/processes/processes.js';
import { CheckoutSession } from '../../../shared/checkout-sessions/model.js';
import { forAllTests } from '../../support/hooks.js';
import { openMoneyFlow } from '../../support/money-flow.js';

const BUYERS = 12;
const SETTLEMENTS = 3;

/**
 * Platforms send SIGTERM to every process of a service, and npm forwards its own: node receives it twice within
 * milliseconds, here during payments.
 */
describe('a process group of npm and node that is told to stop', () => {
  const flow = forAllTests(() =>
    openMoneyFlow('stopped_groups', { worker: false, environment: { SETTLE_WAIT_MS: '0' } }),
  );
  afterEach(killProcesses);

  async function stop(group: ServiceProcess): Promise<void> {
    await group.stop();
    const ends = group.lines().filter(({ event }) => String(event).startsWith('process.'));
    assert.deepEqual(
      ends.map(({ event }) => event),
      ['process.stopping'],
      group.output(),
    );
  }

  it('answers every waiting buyer', async () => {
    const web = await startService('web', 'npm', { ...flow.settings, SETTLE_WAIT_MS: '120000' });
    const sessions = await Promise.all(Array.from({ length: BUYERS }, () => flow.buildSession()));
    const waiting = sessions.map(async ({ id }) => {
      const { header } = await flow.sign(id);
      return await fetch(`http://127.0.0.1:${web.port}/c/${id}`, {
        headers: { 'PAYMENT-SIGNATURE': header },
      });
    });
    const answers = Promise.all(waiting);
    for (const { id } of sessions) {
      await eventually(async () => assert.equal((await flow.state(id)).session, 'processing'));
    }
    await stop(web);
    assert.deepEqual(
      (await answers).map(({ status, headers }) => [status, headers.get('retry-after')]),
      sessions.map(() => [202, '2']),
    );
  });

  it('completes the calls of /settle that it has begun', async () => {
    // The payments of the buyers above are settled first.
    const first = await flow.startWorker();
    await eventually(async () => {
      const complete = CheckoutSession.query(flow.db).where({ status: 'complete' });
      assert.equal(await complete.resultSize(), BUYERS);
    });
    await first.close();
    const held = flow.facilitator.settle.holdAll();
    const sessions = await Promise.all(Array.from({ length: SETTLEMENTS }, () => flow.buildSession()));
    for (const { id } of sessions) assert.equal((await flow.pay(id)).status, 202);
    const worker = await startService('worker', 'npm', flow.settings);
    await flow.facilitator.waitForCall('settle', BUYERS + SETTLEMENTS);
    const stopped = stop(worker);
    await eventually(() => assert.match(worker.output(), /process\.stopping/));
    flow.facilitator.settle.honest();
    held.release();
    await stopped;
    for (const { id } of sessions) assert.equal((await flow.state(id)).session, 'complete');
    const settled = worker.lines().filter(({ event }) => event === 'payment.settle_answered');
    assert.deepEqual(
      settled.map(({ verdict }) => verdict),
      sessions.map(() => 'settled'),
    );
    await flow.assertBooks();
  });
});
