import assert from 'node:assert/strict';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { PausePoint } from '../../../lab/world/processes/pause-points.js';
import { killProcesses, startWorkerProcess } from '../../../lab/world/processes/processes.js';
import { answer, hang, type Reaction } from '../../../lab/world/receiver/receiver.js';
import { NO_RECENT_WRITES } from '../../../shared/accounts/recent-writes.js';
import { advanceClock, resetClock } from '../../../shared/process/clock.js';
import { createSecretBox } from '../../../shared/secrets/secrets.js';
import { WebhookDelivery, WebhookEndpoint } from '../../../shared/webhooks/model.js';
import { Deliverer } from '../../../workers/jobs/deliver-webhook.js';
import { openSenderHere } from '../../../workers/webhook-delivery/sender.js';
import { forAllTests } from '../../support/hooks.js';
import { openManualWorker } from '../../support/money-flow.js';
import { openWebhookFlow } from '../../support/webhook-flow.js';

/** The contract's limits of tries in flight for one endpoint, repeated here so that a change is deliberate. */
const LEAST = 10;
const MOST = 50;
const WHILE_FAILING = 2;
/** The slots of a worker process at the default concurrency. */
const PROCESS_SLOTS = 400;
/** More deliveries than one endpoint has slots, some times over. */
const HEALTHY = 200;

interface Gauge {
  reaction: Reaction;
  /** Requests that wait for their answer: now, and the highest count so far. */
  now(): number;
  most(): number;
  releaseOne(): void;
  releaseAll(status: number): void;
}

/** A receiver that answers when it is told to, and counts the requests that wait. */
function createGauge(): Gauge {
  const waiting: ((status: number) => void)[] = [];
  let most = 0;
  let released: number | undefined;
  return {
    reaction(response) {
      if (released !== undefined) {
        response.writeHead(released).end();
        return;
      }
      const end = (status: number): void => {
        waiting.splice(waiting.indexOf(end), 1);
        response.writeHead(status).end();
      };
      waiting.push(end);
      response.once('close', () => {
        if (waiting.includes(end)) waiting.splice(waiting.indexOf(end), 1);
      });
      most = Math.max(most, waiting.length);
    },
    now: () => waiting.length,
    most: () => most,
    releaseOne: () => waiting[0]?.(200),
    releaseAll(status) {
      released = status;
      for (const end of [...waiting]) end(status);
    },
  };
}

describe('one webhook endpoint and the others', () => {
  const flow = forAllTests(() => openWebhookFlow('webhooks_isolation', { worker: false }));
  afterEach(async () => {
    await PausePoint.removeAll();
    resetClock();
    await killProcesses();
    await flow.startOver();
  });

  it('all deliveries to a healthy endpoint arrive while more to another one hang than there are slots', async () => {
    const [hanging, healthy] = [await flow.addEndpoint(), await flow.addEndpoint()];
    hanging.receiver.react(hang);
    await flow.api.post(`/v1/webhook_endpoints/${healthy.id}`, { disabled: true }).expect(200);
    await flow.expireWithoutNotifying(PROCESS_SLOTS);
    await flow.api.post(`/v1/webhook_endpoints/${healthy.id}`, { disabled: false }).expect(200);
    await flow.expireWithoutNotifying(HEALTHY);
    await flow.startWorker();
    await flow.untilSucceeded(healthy.id, HEALTHY, 30_000);
    const left = await WebhookDelivery.query(flow.db).where({ endpointId: hanging.id, status: 'pending' });
    assert.equal(left.length, PROCESS_SLOTS + HEALTHY);
    assert.equal(new Set(healthy.receiver.got.map(({ headers }) => headers['webhook-id'])).size, HEALTHY);
    assert.equal(healthy.receiver.got.length, HEALTHY);
  });

  it('endpoints that hang, more than there are slots, do not block a healthy one', async () => {
    const hanging = await Promise.all(Array.from({ length: 25 }, () => flow.addEndpoint()));
    for (const hook of hanging) hook.receiver.react(hang);
    await flow.expireWithoutNotifying(40);
    await flow.startWorker({ WORKER_CONCURRENCY: '1' });
    const held = (): number => hanging.reduce((sum, hook) => sum + hook.receiver.got.length, 0);
    await eventually(() => assert.ok(held() >= 100));
    const healthy = await flow.addEndpoint();
    await flow.expireSession();
    await flow.untilSucceeded(healthy.id, 1, 30_000);
    // Deliveries to the hanging endpoints are still pending.
    for (const hook of hanging) assert.equal((await flow.deliveries(hook.id)).length, 41);
  });

  it('a new endpoint gets ten tries in flight over two worker processes, and never more', async () => {
    const hook = await flow.addEndpoint();
    const gauge = createGauge();
    hook.receiver.react(gauge.reaction);
    await Promise.all([flow.startWorker(), flow.startWorker()]);
    await flow.expireWithoutNotifying(60);
    await eventually(() => assert.equal(gauge.now(), LEAST));
    gauge.releaseOne();
    // A try that waited longer than its limit, on a busy machine, is replaced as well.
    await eventually(() => assert.ok(hook.receiver.got.length > LEAST));
    assert.equal(gauge.most(), LEAST);
    gauge.releaseAll(200);
    await flow.untilSucceeded(hook.id, 60);
    assert.equal(hook.receiver.got.length, 60);
  });

  it('an endpoint that answers quickly gets up to fifty tries in flight over two worker processes, and half after a failure', async () => {
    const hook = await flow.addEndpoint();
    const slots = async (): Promise<number> =>
      (await WebhookEndpoint.query(flow.db).findById(hook.id).throwIfNotFound()).slots;
    hook.receiver.react(answer(200));
    await Promise.all([flow.startWorker(), flow.startWorker()]);
    let expired = 0;
    while ((await slots()) < MOST) {
      expired += 100;
      await flow.expireWithoutNotifying(100);
      await flow.enqueueDeliveries(hook.id);
      await flow.untilSucceeded(hook.id, expired);
    }
    const gauge = createGauge();
    hook.receiver.react(gauge.reaction);
    await flow.expireWithoutNotifying(120);
    await flow.enqueueDeliveries(hook.id);
    await eventually(() => assert.equal(gauge.now(), MOST));
    gauge.releaseOne();
    await eventually(() => assert.ok(hook.receiver.got.length > expired + MOST));
    assert.equal(gauge.most(), MOST);
    gauge.releaseAll(500);
    // On a busy machine the answer that was released alone may take longer than SLOW_MS, which halves the slots once more.
    const halves = [MOST / 2, Math.floor(MOST / 4)];
    await eventually(async () => assert.ok(halves.includes(await slots())));
  });

  it('a failing endpoint gets two tries in flight over two worker processes, and ten again after a success', async () => {
    const hook = await flow.addEndpoint();
    hook.receiver.react(answer(500));
    await Promise.all([flow.startWorker(), flow.startWorker()]);
    await flow.expireWithoutNotifying(1);
    await flow.afterTries(hook.id, 1);
    const gauge = createGauge();
    hook.receiver.react(gauge.reaction);
    await flow.expireWithoutNotifying(40);
    await flow.enqueueDeliveries(hook.id);
    await eventually(() => assert.equal(gauge.now(), WHILE_FAILING));
    assert.equal(gauge.most(), WHILE_FAILING);
    gauge.releaseOne();
    await eventually(() => assert.equal(gauge.now(), LEAST));
    gauge.releaseAll(200);
    await flow.untilSucceeded(hook.id, 40);
    assert.equal(gauge.most(), LEAST);
  });

  it('an endpoint is served again after a worker was killed during its tries', async () => {
    const hook = await flow.addEndpoint();
    hook.receiver.react(hang);
    await flow.expireWithoutNotifying(15);
    const killed = await startWorkerProcess(flow.settings);
    await eventually(() => assert.equal(hook.receiver.got.length, LEAST));
    await killed.kill();
    const rows = await flow.deliveries(hook.id);
    assert.equal(rows.filter(({ leasedUntil }) => leasedUntil !== null).length, LEAST);
    hook.receiver.react(answer(200));
    await flow.startWorker();
    // The endpoint's slots are taken until the killed worker's leases run out.
    advanceClock(42_000);
    const done = await flow.untilSucceeded(hook.id, 15);
    for (const { tries } of done) assert.equal(tries, 1);
    // A delivery that is repeated has the same event id.
    assert.equal(hook.receiver.got.length, 15 + LEAST);
    assert.equal(new Set(hook.receiver.got.map(({ headers }) => headers['webhook-id'])).size, 15);
  });

  it('a try whose lease has run out changes nothing when it ends', async () => {
    const hook = await flow.addEndpoint();
    const gauge = createGauge();
    hook.receiver.react(gauge.reaction);
    await flow.expireWithoutNotifying(1);
    await flow.startWorker();
    await eventually(() => assert.equal(gauge.now(), 1));
    advanceClock(42_000);
    await eventually(() => assert.equal(gauge.now(), 2));
    gauge.releaseOne(); // Answers the older try.
    await eventually(() => assert.equal(gauge.now(), 1));
    gauge.releaseAll(500);
    const { status, history } = await flow.afterTries(hook.id, 1);
    assert.deepEqual([status, history.map((entry) => entry.status)], ['pending', [500]]);
  });

  describe('a worker that is told to stop', () => {
    it('completes the tries that it has begun, and begins no other', async () => {
      const hook = await flow.addEndpoint();
      const gauge = createGauge();
      hook.receiver.react(gauge.reaction);
      await flow.expireWithoutNotifying(15);
      const worker = await flow.startWorker();
      await eventually(() => assert.equal(gauge.now(), LEAST));
      const closed = worker.close();
      gauge.releaseAll(200);
      await closed;
      assert.equal(hook.receiver.got.length, LEAST);
      const rows = await flow.deliveries(hook.id);
      assert.equal(rows.filter(({ status }) => status === 'succeeded').length, LEAST);
      assert.deepEqual(
        rows.filter(({ leasedUntil }) => leasedUntil !== null),
        [],
      );
    });

    it('completes the deliveries that it is just taking', async () => {
      const hook = await flow.addEndpoint();
      await flow.expireWithoutNotifying(3);
      const point = await PausePoint.put(flow.databaseUrl, {
        table: 'webhook_deliveries',
        on: 'UPDATE',
        when: 'NEW.leased_until IS NOT NULL',
        moment: 'statement',
      });
      const { deps } = openManualWorker(flow.app.config, flow.db);
      const secretBox = createSecretBox(flow.app.config.encryptionKeys);
      const sender = openSenderHere({ allowPrivateNetworks: true });
      const deliverer = new Deliverer({ ...deps, recentWrites: NO_RECENT_WRITES, secretBox }, sender);
      const taking = deliverer.deliverTo(flow.merchant.accountId);
      await point.reached();
      const closed = deliverer.close();
      await point.release();
      await Promise.all([taking, closed]);
      const rows = await flow.deliveries(hook.id);
      assert.deepEqual(
        rows.map(({ status, history }) => [status, history[0]?.error]),
        Array.from({ length: 3 }, () => ['succeeded', null]),
      );
      assert.equal(
        deliverer.deliverHere(flow.merchant.accountId),
        false,
        'the stopped worker takes more deliveries',
      );
      await deps.facilitators.close();
      deps.chains.close();
    });
  });
});
