import assert from 'node:assert/strict';
import { Redis } from 'ioredis';
import { openApiRateLimiter } from '../../../api/limits/rate-limiters.js';
import { eventually } from '../../../lab/world/processes/eventually.js';
import {
  killProcesses,
  type ServiceProcess,
  startWebProcess,
  startWorkerProcess,
} from '../../../lab/world/processes/processes.js';
import { startReceiver } from '../../../lab/world/receiver/receiver.js';
import { buildSessions } from '../../../lab/world/shop/factories.js';
import { loadConfig } from '../../../shared/config/config.js';
import { openDatabase } from '../../../shared/db/knex.js';
import { openRateLimiter, type RateLimiter } from '../../../shared/limits/rate-limiter.js';
import { openSharedRateLimiter } from '../../../shared/limits/shared-rate-limiter.js';
import { newId } from '../../../shared/values/ids.js';
import { client } from '../../support/api-client.js';
import { PAID } from '../../support/checkout.js';
import { forAllTests } from '../../support/hooks.js';
import { answerOf } from '../../support/link-answers.js';
import { openMoneyFlow } from '../../support/money-flow.js';
import { moveClockOf } from '../../support/move-clock.js';
import { testServices } from '../../support/suite.js';

const HOUR_MS = 3_600_000;
const SOON = 60_000;
const HALF_AN_HOUR_MS = 1_800_000;

const nowSeconds = (): bigint => BigInt(Math.floor(Date.now() / 1000));

describe("Postgres' clock, set while processes run", () => {
  const flow = forAllTests(() =>
    openMoneyFlow('set_clocks', {
      worker: false,
      environment: { SETTLE_WAIT_MS: '0', WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true' },
    }),
  );
  let setClock: (seconds: number) => Promise<void>;
  const startWorker = () => startWorkerProcess({ ...flow.settings, WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true' });

  before(async () => {
    setClock = await moveClockOf(flow.databaseUrl);
  });
  afterEach(async () => {
    await killProcesses();
    await setClock(0);
  });

  const logged = (service: ServiceProcess, event: string): Promise<void> =>
    eventually(() =>
      assert.ok(
        service.lines().some((line) => line.event === event),
        event,
      ),
    );

  it('an hour ahead, expires no session before its time', async () => {
    const worker = await startWorker();
    const soon = new Date(Date.now() + HALF_AN_HOUR_MS);
    const open = await buildSessions(flow.db, flow.merchant.accountId, 20, { expiresAt: soon });
    await setClock(3600);
    await logged(worker, 'clock.disagrees');
    const [overdue = assert.fail()] = await buildSessions(flow.db, flow.merchant.accountId, 1, {
      expiresAt: new Date(Date.now() - 1000),
    });
    await eventually(async () => assert.equal((await flow.session(overdue.id)).status, 'expired'));
    for (const { id } of open) assert.equal((await flow.session(id)).status, 'open');
    await setClock(0);
    await logged(worker, 'clock.agrees');
  });

  it('an hour back, leaves no payment and no webhook due for an hour', async () => {
    const { id } = await flow.buildSession();
    assert.equal(answerOf(await flow.pay(id)), '202 processing');
    const receiver = await startReceiver();
    try {
      const api = client(flow.app, flow.merchant.testKey);
      await api.post('/v1/webhook_endpoints', { url: receiver.url }).expect(200);
      const { id: sold } = await flow.buildSession();
      await api.post(`/v1/checkout/sessions/${sold}/expire`).expect(200);
      await setClock(-3600);
      await startWorker();
      await flow.becomes(id, PAID);
      await eventually(() => assert.ok(receiver.got.some(({ raw }) => raw.includes(sold))));
    } finally {
      await receiver.close();
    }
  });

  for (const minutes of [15, -15]) {
    it(`${minutes} minutes off, refuses no payment by its window`, async () => {
      const { id } = await flow.buildSession();
      const { header } = await flow.sign(id, {
        validAfter: nowSeconds() - 60n,
        validBefore: nowSeconds() + 240n,
      });
      await setClock(minutes * 60);
      const web = await startWebProcess({ ...flow.settings, SETTLE_WAIT_MS: '20000' });
      await startWorker();
      const answer = await fetch(`http://127.0.0.1:${web.port}/c/${id}`, {
        headers: { 'PAYMENT-SIGNATURE': header },
      });
      assert.equal(answer.status, 200, await answer.text());
    });
  }
});

describe("Redis' clock, set back by an hour", () => {
  let redis: Redis;
  /** Milliseconds that are added to the time that Redis tells to scripts. */
  let aheadMs: number;
  before(() => {
    redis = new Redis(testServices().redisUrl);
  });
  beforeEach(() => {
    aheadMs = 0;
  });
  after(() => redis.disconnect());

  /** The script's own look at the clock, moved. */
  const store = {
    run(script: string, key: string, ...values: number[]): Promise<unknown> {
      const moved = script.replace("redis.call('TIME')", `{redis.call('TIME')[1] + ${aheadMs / 1000}, 0}`);
      assert.notEqual(moved, script);
      return redis.eval(moved, 1, key, ...values);
    },
  };
  const limiterOf = (key: string, intervalMs: number | undefined): RateLimiter =>
    openSharedRateLimiter({
      store,
      key,
      intervalMs,
      alone: openRateLimiter(() => assert.fail('Redis answers')),
    });

  it('does not delay the calls of the facilitator', async () => {
    const limiter = limiterOf(newId('evt_'), 10_000);
    const first = [await limiter.take(SOON), await limiter.take(SOON)];
    assert.deepEqual(
      first.map(({ waitMs }) => Math.round(waitMs / 10_000)),
      [0, 1],
    );
    aheadMs = -HOUR_MS;
    const later = [await limiter.take(SOON), await limiter.take(SOON)];
    assert.deepEqual(
      later.map(({ waitMs }) => Math.round(waitMs / 10_000)),
      [2, 3],
    );
    aheadMs = 0;
    assert.ok((await limiter.take(SOON)).granted, 'nor when it is right again');
  });

  it('ends a pause when its time is over', async () => {
    const key = newId('evt_');
    limiterOf(key, undefined).pause(50_000);
    // The process that was asked to pause has also its own clock.
    const limiter = limiterOf(key, undefined);
    await eventually(async () => assert.ok((await limiter.pausedMs()) > 40_000));
    aheadMs = -HOUR_MS;
    // A process asks at most every 100 ms.
    await eventually(async () => {
      const waitMs = await limiter.pausedMs();
      assert.ok(waitMs > 5000 && waitMs <= 51_000, `${waitMs}`);
      assert.ok(Number(await redis.hget(key, 'at')) < Date.now() - HOUR_MS / 2);
    });
    aheadMs += 51_000;
    await eventually(async () => assert.equal(await limiter.pausedMs(), 0));
  });

  it('ends the share of a merchant that was begun before', async () => {
    const db = openDatabase(loadConfig({ DATABASE_URL: testServices().databaseUrl }, 'cli').database);
    const limiter = openApiRateLimiter({ apiRequestsPerSecond: 2 }, { db, redis, breaker: undefined });
    const key = newId('acct_');
    try {
      // The share's end is a time of Redis' clock: set back, it is an hour away.
      await redis.set(`api:${key}`, 100, 'PX', HOUR_MS);
      await redis.set(`api-burst:${key}`, 100, 'PX', HOUR_MS);
      assert.equal(await limiter.take(key), undefined);
    } finally {
      await db.destroy();
    }
  });
});
