import assert from 'node:assert/strict';
import type { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { TcpProxy } from '../../../lab/world/proxy/tcp-proxy.js';
import { answer } from '../../../lab/world/receiver/receiver.js';
import { JOB_NAMES } from '../../../shared/jobs/jobs.js';
import { advanceClock, nowMs, resetClock } from '../../../shared/process/clock.js';
import { WebhookDelivery } from '../../../shared/webhooks/model.js';
import { emptyTables } from '../../support/empty-tables.js';
import { forAllTests } from '../../support/hooks.js';
import { testServices } from '../../support/suite.js';
import { openWebhookFlow, type WebhookFlow } from '../../support/webhook-flow.js';

const MANY = 100;

for (const store of ['Redis', 'Postgres'] as const) {
  describe(`the queue in ${store}, emptied while a hundred deliveries are due or delayed`, () => {
    const flow = forAllTests(() =>
      openWebhookFlow(`webhooks_emptied_${store.toLowerCase()}`, {
        environment: store === 'Postgres' ? { REDIS_URL: '' } : {},
      }),
    );
    after(resetClock);

    async function empty(): Promise<void> {
      if (store === 'Postgres') {
        await emptyTables(flow.db, 'bullmq.job', 'bullmq.meta');
        return;
      }
      const redis = new Redis(testServices().redisUrl);
      await redis.flushall();
      redis.disconnect();
    }

    it('delivers all of them at their due times, and forgets no try', async () => {
      const [due, delayed] = [await flow.addEndpoint(), await flow.addEndpoint()];
      // Half of the deliveries were tried once, and wait for their retry; half are due now.
      delayed.receiver.react(answer(500));
      await flow.api.post(`/v1/webhook_endpoints/${due.id}`, { disabled: true }).expect(200);
      await flow.expireWithoutNotifying(MANY / 2);
      await eventually(async () => {
        const tried = await WebhookDelivery.query(flow.db).where({ endpointId: delayed.id, tries: 1 });
        assert.equal(tried.length, MANY / 2);
      }, 40_000);
      delayed.receiver.react(answer(200));
      const planned = await flow.deliveries(delayed.id);
      const dueAt = new Map(planned.map((row) => [row.id, row.dueAt?.getTime() ?? 0]));
      await empty();
      await flow.api.post(`/v1/webhook_endpoints/${due.id}`, { disabled: false }).expect(200);
      await flow.api.post(`/v1/webhook_endpoints/${delayed.id}`, {
        enabled_events: ['checkout.session.completed'],
      });
      await flow.expireWithoutNotifying(MANY / 2);
      await empty();
      await flow.untilSucceeded(due.id, MANY / 2, 30_000);
      await empty();

      const again = delayed.receiver.got.length - MANY / 2;
      // On a slow machine the first pauses may be over by now.
      const pausesLeftMs = [...dueAt.values()].map((at) => at - nowMs());
      assert.ok(again <= pausesLeftMs.filter((ms) => ms <= 0).length, 'none before its time');
      advanceClock(Math.max(0, ...pausesLeftMs));
      await empty();
      const done = await flow.untilSucceeded(delayed.id, MANY / 2, 30_000);
      for (const { id, tries, history } of done) {
        assert.deepEqual([tries, history.map(({ status }) => status)], [2, [500, 200]]);
        const triedAgainAt = Date.parse(history[1]?.at ?? '');
        assert.ok(triedAgainAt >= (dueAt.get(id) ?? Number.POSITIVE_INFINITY), 'none before its time');
      }
      const ids = (hook: typeof due): (string | string[] | undefined)[] =>
        hook.receiver.got.map(({ headers }) => headers['webhook-id']);
      // Only deliveries that failed were sent again, with the same event id.
      assert.deepEqual([ids(due).length, new Set(ids(due)).size], [MANY / 2, MANY / 2]);
      assert.deepEqual([ids(delayed).length, new Set(ids(delayed)).size], [MANY, MANY / 2]);
    });

    it('tries none before its due time, however many jobs there are', async () => {
      const hook = await flow.addEndpoint();
      hook.receiver.react(answer(500));
      await flow.expireSession();
      const { dueAt } = await flow.afterTries(hook.id, 1);
      advanceClock((dueAt?.getTime() ?? 0) - nowMs() - 5000);
      for (let job = 0; job < 10; job += 1) await flow.enqueueDeliveries(hook.id);
      const other = await flow.addEndpoint();
      await flow.expireSession();
      await flow.untilSucceeded(other.id, 1);
      await eventually(async () => assert.equal((await flow.deliveries(hook.id))[1]?.tries, 1));
      assert.equal((await flow.deliveries(hook.id))[0]?.tries, 1);
      assert.ok(nowMs() < (dueAt?.getTime() ?? 0), 'the test took longer than the pause');
    });
  });
}

describe('Redis that becomes unavailable while events are delivered', () => {
  let flow: WebhookFlow;
  let proxy: TcpProxy;
  before(async () => {
    proxy = await TcpProxy.start(testServices().redisUrl);
    flow = await openWebhookFlow('webhooks_no_redis', {
      environment: { REDIS_URL: proxy.url },
    });
  });
  after(async () => {
    resetClock();
    await flow.close();
    await proxy.refuse();
  });

  it('delays no event, no retry and no request, and is used again when it is back', async () => {
    const hook = await flow.addEndpoint();
    await flow.expireSession();
    await flow.untilSucceeded(hook.id, 1);
    await proxy.refuse();
    await flow.expireSession();
    await flow.untilSucceeded(hook.id, 2);
    hook.receiver.react(answer(500));
    await flow.expireSession();
    const failed = await eventually(async () => {
      const row = (await flow.deliveries(hook.id))[2];
      assert.ok(row?.tries === 1 && row.leasedUntil === null);
      return row;
    });
    hook.receiver.react(answer(200));
    advanceClock((failed.dueAt?.getTime() ?? 0) - nowMs());
    await flow.untilSucceeded(hook.id, 3);
    await proxy.accept();
    await flow.expireSession();
    await flow.untilSucceeded(hook.id, 4);
    assert.equal(new Set(hook.receiver.got.map(({ headers }) => headers['webhook-id'])).size, 4);
    assert.equal(hook.receiver.got.length, 5);
    // A worker that is still reconnecting to Redis would stop late.
    const redis = new Redis(testServices().redisUrl);
    await eventually(async () => {
      const clients = String(await redis.client('LIST'));
      assert.equal(clients.match(/ cmd=bzpopmin /g)?.length, JOB_NAMES.length);
    });
    redis.disconnect();
  });
});

for (const store of ['Redis', 'Postgres'] as const)
  describe(`a queue in ${store} that accepts jobs and hands none out`, () => {
    const flow = forAllTests(() =>
      openWebhookFlow(`webhooks_stuck_${store.toLowerCase()}`, {
        environment: store === 'Postgres' ? { REDIS_URL: '' } : {},
      }),
    );
    let queues: Queue[];
    before(async () => {
      queues = await flow.app.queues.open();
      for (const queue of queues) await queue.pause();
    });
    after(async () => {
      resetClock();
      for (const queue of queues) await queue.resume();
    });

    it('delays webhooks by 15 s: the sweep delivers what has been due for longer', async () => {
      const hook = await flow.addEndpoint();
      await flow.expireWithoutNotifying(MANY);
      assert.equal(hook.receiver.got.length, 0);
      advanceClock(16_000);
      await flow.untilSucceeded(hook.id, MANY);
      assert.equal(hook.receiver.got.length, MANY);
    });

    it('delays the expiry of sessions by 15 s, and their webhooks no further', async () => {
      const hook = await flow.addEndpoint();
      const { id } = await flow.buildSession({ expiresAt: new Date(nowMs()) });
      assert.equal((await flow.session(id)).status, 'open');
      advanceClock(16_000);
      await eventually(async () => assert.equal((await flow.session(id)).status, 'expired'));
      await flow.untilSucceeded(hook.id, 1);
    });
  });
