import assert from 'node:assert/strict';
import { Redis } from 'ioredis';
import { type Behaviour, failsToSettle } from '../../../lab/world/facilitator/dial.js';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { TcpProxy } from '../../../lab/world/proxy/tcp-proxy.js';
import {
  buildEndpoints,
  buildEvent,
  buildMerchant,
  buildSession,
} from '../../../lab/world/shop/factories.js';
import { JOB_NAMES } from '../../../shared/jobs/jobs.js';
import { advanceClock, now } from '../../../shared/process/clock.js';
import { newId } from '../../../shared/values/ids.js';
import { WebhookDelivery, WebhookEndpoint } from '../../../shared/webhooks/model.js';
import { emptyTables } from '../../support/empty-tables.js';
import { forAllTests } from '../../support/hooks.js';
import { answerOf } from '../../support/link-answers.js';
import { type MoneyFlow, openMoneyFlow } from '../../support/money-flow.js';
import { testServices } from '../../support/suite.js';

const HEADER = 'PAYMENT-SIGNATURE';

async function emptyRedis(): Promise<void> {
  const redis = new Redis(testServices().redisUrl);
  await redis.flushall();
  redis.disconnect();
}

/** Pays; the session is claimed and the answer is 202. */
async function payAnd202(flow: MoneyFlow): Promise<{ id: string; nonce: string }> {
  const { id } = await flow.buildSession();
  const { header, payload } = await flow.sign(id);
  assert.equal(answerOf(await flow.visit(id, { [HEADER]: header })), '202 processing');
  return { id, nonce: payload.authorization.nonce };
}

async function assertComplete(flow: MoneyFlow, sessions: { id: string }[]): Promise<void> {
  await eventually(async () => {
    const statuses = await Promise.all(sessions.map(async ({ id }) => (await flow.session(id)).status));
    assert.deepEqual(
      statuses.filter((status) => status !== 'complete'),
      [],
    );
  });
}

/** The queue's workers take the jobs of new payments, which the sweep would leave in the queue. */
async function assertQueueServes(flow: MoneyFlow): Promise<void> {
  await eventually(async () => assert.equal(await flow.app.redis?.ping(), 'PONG'));
  const sessions = await Promise.all(Array.from({ length: 10 }, () => flow.buildSession()));
  const answers = await Promise.all(sessions.map(({ id }) => flow.pay(id).then(answerOf)));
  assert.deepEqual(new Set(answers), new Set(['200 complete']));
  const redis = new Redis(testServices().redisUrl);
  await eventually(async () => {
    assert.deepEqual(await redis.keys('checkout:*-payment:pay_*'), []);
    // Each queue has a blocked worker.
    const clients = String(await redis.client('LIST'));
    assert.equal(clients.match(/ cmd=bzpopmin /g)?.length, JOB_NAMES.length);
  }).finally(() => redis.disconnect());
}

for (const store of ['Redis', 'Postgres'] as const) {
  describe(`the queue in ${store}, emptied while thirty payments are in progress`, () => {
    const flow = forAllTests(() =>
      openMoneyFlow(`emptied_${store.toLowerCase()}`, {
        environment: { SETTLE_WAIT_MS: '0', ...(store === 'Postgres' && { REDIS_URL: '' }) },
      }),
    );

    async function empty(): Promise<void> {
      if (store === 'Postgres') {
        await emptyTables(flow.db, 'bullmq.job', 'bullmq.meta');
        return;
      }
      await emptyRedis();
    }

    it('loses no payment and settles none twice', async () => {
      const { settle } = flow.facilitator;
      // Ten payments in /settle, ten waiting for a worker, and ten unclear ones whose next check of the chain is
      // due soon.
      const unclear: Behaviour = { connection: 'drop' };
      settle.always(unclear);
      const unclearPayments = await Promise.all(Array.from({ length: 10 }, () => payAnd202(flow)));
      await eventually(async () => {
        const payments = await Promise.all(unclearPayments.map(({ id }) => flow.onlyPayment(id)));
        const clear = payments.filter(({ settleUnclear }) => !settleUnclear);
        assert.deepEqual(
          clear.map(({ status, stage, dueAt, history }) => ({ status, stage, dueAt, history })),
          [],
        );
      });
      const hold = settle.holdAll();
      const held = await Promise.all(Array.from({ length: 20 }, () => payAnd202(flow)));
      await empty();
      const waiting = await Promise.all(Array.from({ length: 10 }, () => payAnd202(flow)));
      await empty();
      hold.release();
      const all = [...unclearPayments, ...held, ...waiting];
      await assertComplete(flow, all);
      for (const { nonce } of all) assert.equal(flow.facilitator.callsOf('settle', nonce).length, 1);
      await flow.assertBooks();
    });

    it('still expires sessions', async () => {
      const { id } = await flow.buildSession({ expiresAt: new Date(Date.now() + 300) });
      await empty();
      await eventually(async () => {
        const { session, events } = await flow.state(id);
        assert.deepEqual([session, events], ['expired', ['checkout.session.expired']]);
      });
    });
  });
}

describe('Redis that cannot be reached', () => {
  let flow: MoneyFlow;
  let proxy: TcpProxy;
  before(async () => {
    proxy = await TcpProxy.start(testServices().redisUrl);
    await proxy.refuse();
    flow = await openMoneyFlow('no_redis', {
      environment: { REDIS_URL: proxy.url, FACILITATOR_SETTLE_TIMEOUT_MS: '20000' },
    });
  });
  after(async () => {
    await flow.close();
    await proxy.refuse();
  });
  afterEach(() => flow.facilitator.settle.honest());

  it('when web and worker start: payments are settled, unclear ones are resolved and sessions expire', async () => {
    const { id: over } = await flow.buildSession({ expiresAt: new Date(Date.now() + 500) });
    const { id } = await flow.buildSession();
    assert.equal(answerOf(await flow.pay(id)), '200 complete');
    const { id: unclear } = await flow.buildSession();
    flow.facilitator.settle.next({ connection: 'drop' });
    assert.equal(answerOf(await flow.pay(unclear)), '200 complete');
    await eventually(async () => assert.equal((await flow.session(over)).status, 'expired'));
    await flow.assertBooks();
  });

  it('while one call of /settle hangs: other payments and expiry do not wait for it', async () => {
    const hold = flow.facilitator.settle.holdNext();
    const { id: slow } = await flow.buildSession();
    const slowAnswer = flow.pay(slow).then(answerOf);
    await eventually(() => assert.ok(flow.facilitator.calls.settle.length > 0));
    await eventually(async () => assert.equal((await flow.onlyPayment(slow)).settleCalls, 1));
    try {
      const { id: over } = await flow.buildSession({ expiresAt: new Date(Date.now() + 100) });
      const { id } = await flow.buildSession();
      const answer = flow.pay(id).then(answerOf);
      await eventually(async () => assert.equal((await flow.session(id)).status, 'complete'), 5000);
      assert.equal(await answer, '200 complete');
      await eventually(async () => assert.equal((await flow.session(over)).status, 'expired'), 5000);
    } finally {
      hold.release();
      await slowAnswer;
    }
    await flow.assertBooks();
  });

  it('and recovers: the queue serves again', async () => {
    await proxy.accept();
    await assertQueueServes(flow);
    await flow.assertBooks();
  });

  it('and is lost again during payments: they end in the right state', async () => {
    const hold = flow.facilitator.settle.holdAll();
    const sessions = await Promise.all(Array.from({ length: 10 }, () => flow.buildSession()));
    const answers = sessions.map(({ id }) => flow.pay(id).then(answerOf));
    await eventually(async () => {
      const payments = await Promise.all(sessions.map(({ id }) => flow.onlyPayment(id)));
      const calls = payments.map(({ settleCalls }) => settleCalls);
      assert.deepEqual(calls, Array(10).fill(1));
    });
    await proxy.refuse();
    hold.release();
    assert.deepEqual(new Set(await Promise.all(answers)), new Set(['200 complete']));
    const { id } = await flow.buildSession();
    flow.facilitator.settle.honest();
    flow.facilitator.settle.next(failsToSettle('kyt_risk_detected'));
    assert.equal(answerOf(await flow.pay(id)), '402 kyt_risk_detected');
    assert.equal(answerOf(await flow.pay(id)), '200 complete');
    await proxy.accept();
    await assertQueueServes(flow);
    await flow.assertBooks();
  });

  it('and accepts connections without answering: payments are settled all the same', async () => {
    proxy.freeze();
    const { id } = await flow.buildSession();
    assert.equal(answerOf(await flow.pay(id)), '200 complete');
    proxy.thaw();
    await assertQueueServes(flow);
    await flow.assertBooks();
  });
});

describe('a worker that serves one queue only', () => {
  it('finds its due payment behind five hundred that are due in another queue', async () => {
    const flow = await openMoneyFlow('one_queue', { worker: false, environment: { SETTLE_WAIT_MS: '0' } });
    const { id: others } = await flow.buildSession();
    await payAnd202(flow);
    // Five hundred checks of the chain are due, and no worker serves their queue.
    await flow.db.raw(
      `INSERT INTO payments (id, payable_id, account_id, livemode, status, amount_cents, token, token_amount,
         token_decimals, network, pay_to, channel, asset, payload_key, requirements, payload, valid_until, claimed_at, stage, due_at)
       SELECT id || n, ?, account_id, livemode, 'failed', amount_cents, token, token_amount, token_decimals, network, pay_to,
         channel, asset, payload_key || n, requirements, payload, valid_until, claimed_at, 'watch', due_at - interval '1 hour'
       FROM payments, generate_series(1, 500) n`,
      [others],
    );
    const lost = await payAnd202(flow);
    await emptyRedis();
    await flow.startWorker({ WORKER_QUEUES: 'settle-payment' });
    try {
      await assertComplete(flow, [lost]);
    } finally {
      await flow.close();
    }
  });
});

describe('a queue that accepts jobs and delivers none', () => {
  it('delays payments only briefly: the sweep processes what has been due for 15 s', async () => {
    const flow = await openMoneyFlow('stuck_queue', { environment: { SETTLE_WAIT_MS: '0' } });
    try {
      const queues = await flow.app.queues.open();
      for (const queue of queues) await queue.pause();
      const sessions = await Promise.all(Array.from({ length: 5 }, () => payAnd202(flow)));
      assert.equal(flow.facilitator.ledger.length, 0);
      advanceClock(16_000);
      await assertComplete(flow, sessions);
      for (const { nonce } of sessions) assert.equal(flow.facilitator.callsOf('settle', nonce).length, 1);
      for (const queue of queues) await queue.resume();
      await assertComplete(flow, [await payAnd202(flow)]);
      await flow.assertBooks();
    } finally {
      await flow.close();
    }
  });
});

describe('a worker whose statement for deliveries waits for a lock', () => {
  it('finds a payment that no job names, and sessions that are overdue', async () => {
    const flow = await openMoneyFlow('locked_delivery', {
      worker: false,
      environment: { SETTLE_WAIT_MS: '0' },
    });
    const { id: over } = await flow.buildSession({ expiresAt: new Date(Date.now() + 100) });
    const lost = await payAnd202(flow);
    await emptyRedis();
    // The endpoint was enabled, and its delivery is to become due.
    const { accountId } = await buildMerchant(flow.db);
    const [endpoint] = await buildEndpoints(flow.db, accountId, 1);
    assert.ok(endpoint);
    await WebhookEndpoint.query(flow.db).findById(endpoint).patch({ enabledAt: now(), sweptTo: '' });
    const eventId = await buildEvent(flow.db, accountId, await buildSession(flow.db, accountId));
    const delivery = { id: newId('wd_'), eventId, endpointId: endpoint, status: 'pending', dueAt: null };
    await flow.db('webhookDeliveries').insert(delivery);
    const lock = await flow.db.transaction();
    await lock('webhookDeliveries').where({ id: delivery.id }).forUpdate();
    await flow.startWorker();
    try {
      const waiting = async (): Promise<unknown[]> => {
        const text = `SELECT pid, query_start FROM pg_stat_activity
          WHERE wait_event_type = 'Lock' AND datname = current_database()`;
        return (await flow.db.raw(text)).rows;
      };
      await eventually(async () => assert.notEqual((await waiting()).length, 0));
      const before = await waiting();
      await assertComplete(flow, [lost]);
      await eventually(async () => assert.equal((await flow.session(over)).status, 'expired'));
      assert.deepEqual(await waiting(), before, 'found only after the wait');
      const { status } = await WebhookDelivery.query(flow.db).findById(delivery.id).throwIfNotFound();
      assert.equal(status, 'pending');
    } finally {
      await lock.rollback();
      await flow.close();
    }
  });
});
