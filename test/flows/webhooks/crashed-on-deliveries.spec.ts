import assert from 'node:assert/strict';
import { eventually } from '../../../lab/world/processes/eventually.js';
import {
  killProcesses,
  type ServiceProcess,
  startWorkerProcess,
} from '../../../lab/world/processes/processes.js';
import { answer } from '../../../lab/world/receiver/receiver.js';
import { NO_RECENT_WRITES } from '../../../shared/accounts/recent-writes.js';
import { advanceClock, nowMs, resetClock } from '../../../shared/process/clock.js';
import { createSecretBox } from '../../../shared/secrets/secrets.js';
import { readBacklog } from '../../../shared/upkeep/backlog.js';
import { findDueAccounts, listQuarantinedDeliveries } from '../../../shared/webhooks/find-due.js';
import type { WebhookDelivery } from '../../../shared/webhooks/model.js';
import { sweepEndpoints } from '../../../shared/webhooks/pending-deliveries.js';
import { recordFailure } from '../../../shared/webhooks/record-failure.js';
import { takeDueDeliveries, takeQuarantinedDelivery } from '../../../shared/webhooks/take-due.js';
import { Deliverer } from '../../../workers/jobs/deliver-webhook.js';
import { openSenderHere, type Sender } from '../../../workers/webhook-delivery/sender.js';
import { forAllTests } from '../../support/hooks.js';
import { openManualWorker } from '../../support/money-flow.js';
import { ALLOWANCE, type Hook, openWebhookFlow } from '../../support/webhook-flow.js';

describe('webhook deliveries on which workers crash', () => {
  const flow = forAllTests(() => openWebhookFlow('crashed_on_deliveries', { worker: false }));
  after(killProcesses);
  afterEach(resetClock);

  const start = (): Promise<ServiceProcess> => startWorkerProcess(flow.settings);

  const only = async (hook: Hook): Promise<WebhookDelivery> => {
    const [row] = await flow.deliveries(hook.id);
    assert.ok(row);
    return row;
  };
  /** Ends the delivery's lease and its wait. */
  const runOut = async ({ id }: WebhookDelivery): Promise<void> => {
    const past = new Date(nowMs() - 1);
    await flow.db('webhookDeliveries').where({ id }).update({ dueAt: past, leasedUntil: past });
  };
  const takeUsual = async (): Promise<string[]> => {
    const { deliveries } = await takeDueDeliveries(flow.db, flow.merchant.accountId, ALLOWANCE);
    return deliveries.map(({ id }) => id);
  };

  it('that had no outcome because the thread that sends them ended are sent again after their lease', async () => {
    const hook = await flow.addEndpoint();
    await flow.expireWithoutNotifying(1);
    const here = openSenderHere({ allowPrivateNetworks: true });
    let hasEnded = true;
    const send: Sender['send'] = (webhook) =>
      hasEnded ? Promise.reject(new Error('the thread has ended')) : here.send(webhook);
    const { deps } = openManualWorker(flow.app.config, flow.db);
    const secretBox = createSecretBox(flow.app.config.encryptionKeys);
    const deliverer = new Deliverer(
      { ...deps, recentWrites: NO_RECENT_WRITES, secretBox },
      { ...here, send },
    );
    await deliverer.deliverTo(flow.merchant.accountId);
    const taken = await only(hook);
    assert.deepEqual([taken.status, taken.tries, taken.leasedUntil === null], ['pending', 0, false]);
    hasEnded = false;
    await deliverer.deliverTo(flow.merchant.accountId);
    assert.equal(hook.receiver.got.length, 0, 'sent again while the lease runs');
    await runOut(taken);
    await deliverer.deliverTo(flow.merchant.accountId);
    await flow.untilSucceeded(hook.id, 1);
    await deliverer.close();
    await deps.facilitators.close();
    deps.chains.close();
  });

  it('are taken alone after two crashes, named in the log, and still delivered; other deliveries go on', async () => {
    const hook = await flow.addEndpoint();
    await flow.expireSession();
    for (const crashes of [1, 2]) {
      // The delivery may be sent before `start` returns.
      const starting = start();
      hook.receiver.react(() => void starting.then((started) => started.child.kill('SIGKILL')));
      const worker = await starting;
      assert.deepEqual(await worker.exited, { code: null, signal: 'SIGKILL' });
      assert.equal((await only(hook)).lostTakes, crashes);
      await runOut(await only(hook));
    }
    const crashing = await only(hook);
    assert.deepEqual(await takeUsual(), [], 'it is not taken together with other deliveries');
    assert.deepEqual((await findDueAccounts(flow.db, '', 100)).due, [], 'its account is not due');
    assert.equal((await readBacklog(flow.db)).quarantinedWork, 1);

    hook.receiver.react(answer(200));
    await flow.expireSession();
    const last = await start();
    await flow.untilSucceeded(hook.id, 2, 30_000);
    const logged = await eventually(() => {
      const lines = last.lines().filter(({ event }) => event === 'work.crashed_on');
      assert.equal(lines.length, 1);
      return lines.map(({ work, deaths, ids }) => [work, deaths, ids]);
    });
    assert.deepEqual(logged, [['deliver-webhook', 2, [crashing.id]]]);
    await last.kill();
    const { status, lostTakes, tries } = await only(hook);
    assert.deepEqual([status, lostTakes, tries], ['succeeded', 0, 1]);
    assert.equal((await readBacklog(flow.db)).quarantinedWork, 0);
  });

  it('are taken again later after each crash, and are ordinary deliveries again once a try has a result', async () => {
    const hook = await flow.addEndpoint();
    await flow.expireSession();
    const row = await only(hook);
    for (let crash = 1; crash <= 2; crash += 1) {
      assert.ok((await takeUsual()).includes(row.id));
      await runOut(row);
    }
    const minutes: number[] = [];
    for (let crash = 3; crash <= 6; crash += 1) {
      const { dueAt } = await only(hook);
      advanceClock(Math.max(0, (dueAt?.getTime() ?? 0) - nowMs()));
      const taken = await takeQuarantinedDelivery(flow.db, row.id);
      assert.equal(taken?.id, row.id);
      assert.equal(await takeQuarantinedDelivery(flow.db, row.id), undefined, 'two workers took it');
      minutes.push(Math.floor((((await only(hook)).dueAt?.getTime() ?? 0) - nowMs()) / 60_000));
      if (crash < 6) continue;
      const entry = {
        at: new Date(nowMs()).toISOString(),
        durationMs: 1,
        status: 500,
        error: null,
        answer: '',
      };
      await recordFailure(flow.db, flow.app.logger, taken, entry);
    }
    assert.deepEqual(minutes, [0, 1, 2, 4]);
    const { lostTakes, tries, dueAt } = await only(hook);
    assert.deepEqual([lostTakes, tries], [0, 1]);
    advanceClock(Math.max(0, (dueAt?.getTime() ?? 0) - nowMs()));
    assert.ok((await takeUsual()).includes(row.id));
  });

  it('are held while their endpoint is disabled and dropped when it is deleted, as ordinary deliveries are', async () => {
    const [off, gone] = [await flow.addEndpoint(), await flow.addEndpoint()];
    await flow.expireSession();
    await takeUsual();
    for (const hook of [off, gone]) {
      const { id } = await only(hook);
      await flow.db('webhookDeliveries').where({ id }).update({ lostTakes: 2 });
    }
    await flow.api.post(`/v1/webhook_endpoints/${off.id}`, { disabled: true }).expect(200);
    await flow.api.delete(`/v1/webhook_endpoints/${gone.id}`).expect(200);
    for (const hook of [off, gone]) {
      // The state that an event leaves when it is written while its endpoint is being disabled or deleted.
      const row = await only(hook);
      await flow.db('webhookDeliveries').where({ id: row.id }).update({ status: 'pending' });
      await runOut(row);
      assert.equal(await takeQuarantinedDelivery(flow.db, row.id), undefined);
    }
    assert.deepEqual(await listQuarantinedDeliveries(flow.db, 100), []);
    await sweepEndpoints(flow.db);
    assert.deepEqual([(await only(off)).status, (await only(gone)).status], ['pending', 'dropped']);
  });
});
