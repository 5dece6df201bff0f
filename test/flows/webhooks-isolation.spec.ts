import assert from 'node:assert/strict';
import { eventually } from '../../lab/world/processes/eventually.js';
import { PausePoint } from '../../lab/world/processes/pause-points.js';
import { killProcesses, startWorkerProcess } from '../../lab/world/processes/processes.js';
import { answer, hang, type Reaction } from '../../lab/world/receiver/receiver.js';
import { NO_RECENT_WRITES } from '../../shared/accounts/recent-writes.js';
import { advanceClock, resetClock } from '../../shared/process/clock.js';
import { createSecretBox } from '../../shared/secrets/secrets.js';
import { WebhookDelivery, WebhookEndpoint } from '../../shared/webhooks/model.js';
import { Deliverer } from '../../workers/jobs/deliver-webhook.js';
import { openHands } from '../support/money-flow.js';
import { testServices } from '../support/suite.js';
import { openWebhookFlow, type WebhookFlow } from '../support/webhook-flow.js';

/** What the contract of the domain says; written out, so that a change is a decision. */
const LEAST = 10;
const MOST = 50;
const WHILE_FAILING = 2;

interface Gauge {
  reaction: Reaction;
  /** Requests that wait for their answer, now and at most. */
  now(): number;
  most(): number;
  releaseOne(): void;
  releaseAll(status: number): void;
}

/** Answers when it is told to, and counts what waits. */
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

describe('one endpoint and the others', () => {
  let flow: WebhookFlow;
  beforeEach(async () => {
    flow = await openWebhookFlow('webhooks_isolation', { worker: false });
  });
  afterEach(async () => {
    await PausePoint.removeAll();
    resetClock();
    await killProcesses();
    await flow.close();
  });

  const workerEnvironment = (): Record<string, string> => ({
    DATABASE_URL: flow.databaseUrl,
    REDIS_URL: testServices().redisUrl,
    FACILITATOR_URL: flow.facilitator.url,
    BASE_URL: 'https://pay.example',
    WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true',
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
  });

  it('all 500 deliveries to a healthy one arrive while 1,000 to another hang', async function () {
    this.timeout(60_000);
    const [dead, healthy] = [await flow.addEndpoint(), await flow.addEndpoint()];
    dead.receiver.react(hang);
    await flow.api.post(`/v1/webhook_endpoints/${healthy.id}`, { disabled: true }).expect(200);
    await flow.expireQuietly(500);
    await flow.api.post(`/v1/webhook_endpoints/${healthy.id}`, { disabled: false }).expect(200);
    await flow.expireQuietly(500);
    await flow.startWorker();
    await flow.untilSucceeded(healthy.id, 500, 30_000);
    const left = await WebhookDelivery.query(flow.db).where({ endpointId: dead.id, status: 'pending' });
    assert.equal(left.length, 1000);
    assert.equal(new Set(healthy.receiver.got.map(({ headers }) => headers['webhook-id'])).size, 500);
    assert.equal(healthy.receiver.got.length, 500);
  });

  it('many that hang, more than there are slots, do not keep one that is healthy waiting', async function () {
    this.timeout(60_000);
    const dead = await Promise.all(Array.from({ length: 25 }, () => flow.addEndpoint()));
    for (const hook of dead) hook.receiver.react(hang);
    await flow.expireQuietly(40);
    await flow.startWorker({ WORKER_CONCURRENCY: '1' });
    const held = (): number => dead.reduce((sum, hook) => sum + hook.receiver.got.length, 0);
    await eventually(() => assert.ok(held() >= 100));
    const healthy = await flow.addEndpoint();
    await flow.expireSession();
    await flow.untilSucceeded(healthy.id, 1, 30_000);
    // Those that hang have had no end of what is due to them.
    for (const hook of dead) assert.equal((await flow.deliveries(hook.id)).length, 41);
  });

  it('a stranger never has more than ten on their way, over two worker processes, and ten when there are enough', async () => {
    const hook = await flow.addEndpoint();
    const gauge = createGauge();
    hook.receiver.react(gauge.reaction);
    await Promise.all([flow.startWorker(), flow.startWorker()]);
    await flow.expireQuietly(60);
    await eventually(() => assert.equal(gauge.now(), LEAST));
    gauge.releaseOne();
    await eventually(() => assert.equal(hook.receiver.got.length, LEAST + 1));
    assert.equal(gauge.most(), LEAST);
    gauge.releaseAll(200);
    await flow.untilSucceeded(hook.id, 60);
    assert.equal(hook.receiver.got.length, 60);
  });

  it('one that answers well and quickly has more, fifty at most over two worker processes, and half after a failure', async function () {
    this.timeout(60_000);
    const hook = await flow.addEndpoint();
    const slots = async (): Promise<number> =>
      (await WebhookEndpoint.query(flow.db).findById(hook.id).throwIfNotFound()).places;
    hook.receiver.react(answer(200));
    await Promise.all([flow.startWorker(), flow.startWorker()]);
    let expired = 0;
    while ((await slots()) < MOST) {
      expired += 100;
      await flow.expireQuietly(100);
      await flow.ringEndpoint(hook.id);
      await flow.untilSucceeded(hook.id, expired);
    }
    const gauge = createGauge();
    hook.receiver.react(gauge.reaction);
    await flow.expireQuietly(120);
    await flow.ringEndpoint(hook.id);
    await eventually(() => assert.equal(gauge.now(), MOST));
    gauge.releaseOne();
    await eventually(() => assert.equal(hook.receiver.got.length, expired + MOST + 1));
    assert.equal(gauge.most(), MOST);
    gauge.releaseAll(500);
    await eventually(async () => assert.equal(await slots(), MOST / 2));
  });

  it('has two on their way while it fails, over two worker processes, and ten again when one succeeded', async () => {
    const hook = await flow.addEndpoint();
    hook.receiver.react(answer(500));
    await Promise.all([flow.startWorker(), flow.startWorker()]);
    await flow.expireQuietly(1);
    await flow.afterTries(hook.id, 1);
    const gauge = createGauge();
    hook.receiver.react(gauge.reaction);
    await flow.expireQuietly(40);
    await flow.ringEndpoint(hook.id);
    await eventually(() => assert.equal(gauge.now(), WHILE_FAILING));
    assert.equal(gauge.most(), WHILE_FAILING);
    gauge.releaseOne();
    await eventually(() => assert.equal(gauge.now(), LEAST));
    gauge.releaseAll(200);
    await flow.untilSucceeded(hook.id, 40);
    assert.equal(gauge.most(), LEAST);
  });

  it('is not stuck when a worker is killed in the middle of its tries', async function () {
    this.timeout(60_000);
    const environment = { ENCRYPTION_KEY: workerEnvironment().ENCRYPTION_KEY ?? '' };
    await flow.close();
    flow = await openWebhookFlow('webhooks_isolation', { worker: false, environment });
    const hook = await flow.addEndpoint();
    hook.receiver.react(hang);
    await flow.expireQuietly(15);
    const doomed = await startWorkerProcess(workerEnvironment());
    await eventually(() => assert.equal(hook.receiver.got.length, LEAST));
    await doomed.kill();
    const rows = await flow.deliveries(hook.id);
    assert.equal(rows.filter(({ leasedUntil }) => leasedUntil !== null).length, LEAST);
    hook.receiver.react(answer(200));
    await flow.startWorker();
    // Its slots are taken until its leases expire, and no longer.
    advanceClock(42_000);
    const done = await flow.untilSucceeded(hook.id, 15);
    for (const { tries } of done) assert.equal(tries, 1);
    // A delivery done twice is the same event.
    assert.equal(hook.receiver.got.length, 15 + LEAST);
    assert.equal(new Set(hook.receiver.got.map(({ headers }) => headers['webhook-id'])).size, 15);
  });

  it('a try whose lease has run out changes nothing when it ends', async () => {
    const hook = await flow.addEndpoint();
    const gauge = createGauge();
    hook.receiver.react(gauge.reaction);
    await flow.expireQuietly(1);
    await flow.startWorker();
    await eventually(() => assert.equal(gauge.now(), 1));
    advanceClock(42_000);
    await eventually(() => assert.equal(gauge.now(), 2));
    gauge.releaseOne(); // The older one.
    await eventually(() => assert.equal(gauge.now(), 1));
    gauge.releaseAll(500);
    const { status, history } = await flow.afterTries(hook.id, 1);
    assert.deepEqual([status, history.map((entry) => entry.status)], ['pending', [500]]);
  });

  describe('when a worker is told to stop', () => {
    it('waits for the tries that it has begun, and begins no other', async () => {
      const hook = await flow.addEndpoint();
      const gauge = createGauge();
      hook.receiver.react(gauge.reaction);
      await flow.expireQuietly(15);
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

    it('ends what it was just taking', async () => {
      const hook = await flow.addEndpoint();
      await flow.expireQuietly(3);
      const point = await PausePoint.put(flow.databaseUrl, {
        table: 'webhook_deliveries',
        on: 'UPDATE',
        when: 'NEW.leased_until IS NOT NULL',
        moment: 'statement',
      });
      const { deps } = openHands(flow.app.config, flow.db);
      const deliverer = new Deliverer({
        ...deps,
        recentWrites: NO_RECENT_WRITES,
        secretBox: createSecretBox(flow.app.config.encryptionKeys),
      });
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
      assert.equal(deliverer.takeHere(flow.merchant.accountId), false, 'what comes later is another one’s');
      await deps.facilitator.close();
      deps.chains.close();
    });
  });
});
