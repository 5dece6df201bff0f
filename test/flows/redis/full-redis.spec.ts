import assert from 'node:assert/strict';
import { Redis } from 'ioredis';
import request from 'supertest';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { startTestRedis, type TestServer } from '../../../lab/world/processes/services.js';
import { type Checkout, openCheckout } from '../../support/checkout.js';
import { answerOf } from '../../support/link-answers.js';

const TOKEN = 'metrics-token-of-a-spec';

describe('a Redis that takes no writes', () => {
  let redis: TestServer;
  let admin: Redis;
  let checkout: Checkout;
  before(async () => {
    redis = await startTestRedis();
    admin = new Redis(redis.url);
    const environment = { REDIS_URL: redis.url, METRICS_TOKEN: TOKEN, SETTLE_WAIT_MS: '60000' };
    checkout = await openCheckout({ environment });
  });
  after(async () => {
    await checkout.close();
    admin.disconnect();
    await redis.stop();
  });

  async function assertReadiness(expected: object): Promise<void> {
    await eventually(async () => {
      const { status, body } = await request(checkout.app.server).get('/readyz');
      const { status: word, degraded, queue_store } = body;
      assert.deepEqual({ status: word, queue_store, ...(degraded && { degraded }) }, expected);
      assert.equal(status, 200);
    });
  }

  async function metric(name: string): Promise<string | undefined> {
    const page = await request(checkout.app.server).get('/metrics').set('Authorization', `Bearer ${TOKEN}`);
    return page.text.split('\n').find((line) => line.startsWith(`${name} `));
  }

  const STORE = 'checkout_store_readable{store="queue"}';

  it('is named by readiness and metrics, delays payments and loses none', async () => {
    await assertReadiness({ status: 'ready', queue_store: 'ok' });
    assert.equal(await metric(STORE), `${STORE} 1`);
    // Full at once, as after growing to its limit.
    await admin.config('SET', 'maxmemory-policy', 'noeviction');
    await admin.config('SET', 'maxmemory', '1');
    try {
      await assertReadiness({ status: 'ready', queue_store: 'not_writable', degraded: 'queue store' });
      assert.equal(await metric(STORE), `${STORE} 0`);
      const { id } = await checkout.buildSession();
      assert.equal(answerOf(await checkout.pay(id)), '200 complete');
    } finally {
      await admin.config('SET', 'maxmemory', '0');
    }
    await assertReadiness({ status: 'ready', queue_store: 'ok' });
    assert.equal(await metric(STORE), `${STORE} 1`);
  });

  it('leaves a probe behind that expires, below the prefix of the queues', async () => {
    await assertReadiness({ status: 'ready', queue_store: 'ok' });
    const [key = ''] = await admin.keys('*write-probe');
    assert.match(key, /^checkout:/);
    assert.ok((await admin.pttl(key)) > 0);
  });

  it('has its paused queues in the metrics', async () => {
    const [queue = assert.fail('no queue')] = await checkout.app.queues.open();
    const { name } = queue;
    await queue.pause();
    try {
      assert.equal(
        await metric(`checkout_queue_paused{queue="${name}"}`),
        `checkout_queue_paused{queue="${name}"} 1`,
      );
      await queue.add('x', {}, { jobId: 'waits', removeOnComplete: true });
      const paused = `checkout_queue_jobs{queue="${name}",state="paused"}`;
      assert.equal(await metric(paused), `${paused} 1`);
      await queue.remove('waits');
    } finally {
      await queue.resume();
    }
    assert.equal(
      await metric(`checkout_queue_paused{queue="${name}"}`),
      `checkout_queue_paused{queue="${name}"} 0`,
    );
  });
});
