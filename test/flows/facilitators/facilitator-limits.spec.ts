import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Behaviour, slow } from '../../../lab/world/facilitator/dial.js';
import { startFacilitator } from '../../../lab/world/facilitator/facilitator.js';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { TcpProxy } from '../../../lab/world/proxy/tcp-proxy.js';
import { loadConfig } from '../../../shared/config/config.js';
import { openDatabase } from '../../../shared/db/knex.js';
import { openRateLimiter } from '../../../shared/limits/rate-limiter.js';
import { openSharedRateLimiter, type SharedRateOptions } from '../../../shared/limits/shared-rate-limiter.js';
import { createLogger } from '../../../shared/process/logger.js';
import { openRedis, openRedisBreaker } from '../../../shared/queues/connection.js';
import { openFacilitators } from '../../../shared/startup/open-facilitators.js';
import { countCallers, leaveCallers } from '../../../shared/upkeep/facilitator-callers.js';
import { type Checkout, openCheckout, type SignedPayment } from '../../support/checkout.js';
import { answerOf } from '../../support/link-answers.js';
import { createMigratedDatabase, testServices } from '../../support/suite.js';
import { entryFor } from '../../unit/x402/offers.js';

const SOON = 60_000;
const request = { paymentRequirements: entryFor('eip155:84532') } as never;

/** A refusal with Retry-After, as a proxy in front of the facilitator sends it. */
function asksToWait(status: number, seconds: number): Behaviour {
  const headers = { 'retry-after': String(seconds) };
  return { works: false, answer: () => ({ status, body: 'slow down', headers }) };
}

describe("the facilitator's limits", () => {
  /** Repeats the payment for as long as the answer is 503. */
  async function payUntilTaken(checkout: Checkout, id: string, { header }: SignedPayment): Promise<number> {
    for (;;) {
      const { status } = await checkout.visit(id, { 'PAYMENT-SIGNATURE': header });
      if (status !== 503) return status;
    }
  }

  it('are kept by web process and worker together: of a hundred payments at once none is refused or unclear', async () => {
    const environment = {
      // Payments that other spec files left unsettled would count as well.
      DATABASE_URL: await createMigratedDatabase('facilitator_limits'),
      FACILITATOR_MAX_PER_SECOND: '80',
      FACILITATOR_MAX_CONNECTIONS: '20',
    };
    const checkout = await openCheckout({ environment });
    try {
      const { edge, verify, settle } = checkout.facilitator;
      const sessions = await Promise.all(Array.from({ length: 100 }, () => checkout.buildSession()));
      const signed: SignedPayment[] = [];
      for (const { id } of sessions) signed.push(await checkout.sign(id));
      // The burst allows for calls that queue up while the machine stalls for a moment.
      for (const dial of [verify, settle]) dial.always(slow(250)); // All connections are needed.
      edge.limitTo({ perSecond: 80, burst: 120, connections: 20 });
      const statuses = await Promise.all(
        sessions.map(({ id }, index) => payUntilTaken(checkout, id, signed[index] ?? assert.fail())),
      );
      assert.deepEqual(
        [...new Set(statuses)].sort().filter((status) => status > 202),
        [],
      );
      await eventually(async () => {
        for (const { id } of sessions) assert.equal((await checkout.session(id)).status, 'complete');
      });
      assert.deepEqual(edge.turnedAway, []);
      const payments = await Promise.all(sessions.map(({ id }) => checkout.payment(id)));
      assert.deepEqual(
        payments.filter(({ settleUnclear, settleCalls }) => settleUnclear || settleCalls !== 1),
        [],
      );
      const ours = new Set(signed.map(({ payload }) => payload.authorization.nonce));
      const { ledger } = checkout.facilitator;
      assert.deepEqual(
        ledger.filter(({ paymentId }) => !ours.has(paymentId)),
        [],
      );
      assert.equal(ledger.length, 100);
      assert.ok(edge.mostConnections <= 20, `${edge.mostConnections} connections`);
    } finally {
      await checkout.close();
    }
  });

  it('a Retry-After received by one process holds for all: buyers get 503 with the remaining seconds, payments wait', async () => {
    const checkout = await openCheckout();
    const { settle, calls } = checkout.facilitator;
    try {
      const [paid, waiting] = [await checkout.buildSession(), await checkout.buildSession()];
      const [payment, other] = [await checkout.sign(paid.id), await checkout.sign(waiting.id)];
      settle.next(asksToWait(429, 15));
      const answer = checkout.visit(paid.id, { 'PAYMENT-SIGNATURE': payment.header }).then((res) => res);
      await checkout.facilitator.waitForCall('settle');
      await eventually(async () => assert.equal((await checkout.payment(paid.id)).stage, 'settle'));
      // Without a limit per second, the other processes read the pause every tenth of a second.
      await sleep(500);
      const busy = await checkout.visit(waiting.id, { 'PAYMENT-SIGNATURE': other.header });
      assert.equal(busy.status, 503);
      assert.equal(busy.body.error.code, 'payment_service_unavailable');
      const seconds = Number(busy.get('Retry-After'));
      assert.ok(seconds >= 1 && seconds <= 15, `Retry-After: ${seconds}`);
      assert.equal((await checkout.session(waiting.id)).status, 'open');
      assert.match(answerOf(await answer), /^20[02] (processing|complete)$/);
      await eventually(async () => assert.equal((await checkout.session(paid.id)).status, 'complete'), SOON);
      assert.deepEqual([calls.settle.length, checkout.calls(other).verify], [2, 0]);
      assert.equal((await checkout.payment(paid.id)).settleCalls, 2);
    } finally {
      await checkout.close();
    }
  });

  it('a 503 with Retry-After received by one process holds for all, for the same merchant', async () => {
    const checkout = await openCheckout();
    try {
      const [first, second] = [await checkout.buildSession(), await checkout.buildSession()];
      const [payment, other] = [await checkout.sign(first.id), await checkout.sign(second.id)];
      checkout.facilitator.settle.next(asksToWait(503, 15));
      const answer = checkout.visit(first.id, { 'PAYMENT-SIGNATURE': payment.header }).then((res) => res);
      await checkout.facilitator.waitForCall('settle');
      await sleep(500);
      const busy = await checkout.visit(second.id, { 'PAYMENT-SIGNATURE': other.header });
      assert.equal(busy.status, 503);
      assert.ok(Number(busy.get('Retry-After')) >= 1);
      assert.equal(checkout.calls(other).verify, 0);
      await answer;
    } finally {
      await checkout.close();
    }
  });
});

describe('slots that Redis gives to two processes', () => {
  const redis = () =>
    openRedis({ url: testServices().redisUrl, verifyTls: true }, createLogger('silent', 'test'));
  const opened: ReturnType<typeof redis>[] = [];
  afterEach(() => {
    for (const client of opened.splice(0)) client.disconnect();
  });

  /** Opens two processes' limiters on one key. */
  async function twoPaces(intervalMs: number | undefined) {
    const key = `checkout:facilitator:${Math.random()}`;
    const paceOf = async () => {
      const client = redis();
      opened.push(client);
      await eventually(async () => assert.equal(client.status, 'ready'));
      const store: SharedRateOptions['store'] = {
        run: (script, on, ...values) => client.eval(script, 1, on, ...values),
      };
      return openSharedRateLimiter({
        store,
        key,
        intervalMs,
        alone: openRateLimiter(() => assert.fail('it is not alone')),
      });
    };
    return [await paceOf(), await paceOf()] as const;
  }

  it('come one after the other, whichever process asks', async () => {
    const [one, other] = await twoPaces(10_000);
    const waits: number[] = [];
    for (const pace of [one, other, other, one]) waits.push((await pace.take(SOON)).waitMs);
    const tens = waits.map((ms) => Math.round(ms / 10_000));
    assert.deepEqual(tens, [0, 1, 2, 3]);
    const { granted, waitMs } = await other.take(20_000);
    assert.deepEqual([granted, Math.round(waitMs / 10_000)], [false, 4]);
    assert.equal(Math.round((await one.take(SOON)).waitMs / 10_000), 4);
  });

  it('are not given during a pause that the other process was asked for', async () => {
    for (const intervalMs of [10_000, undefined]) {
      const [one, other] = await twoPaces(intervalMs);
      await other.take(SOON);
      one.pause(50_000);
      await eventually(async () => {
        const { granted, waitMs } = await other.take(30_000);
        assert.deepEqual([granted, waitMs > 40_000 && waitMs <= 50_000], [false, true]);
        assert.ok((await other.pausedMs()) > 40_000);
      });
    }
  });
});

describe("processes that share the facilitator's limits", () => {
  it('count each other in Postgres, without processes that have stopped or were killed', async () => {
    const config = loadConfig({ DATABASE_URL: await createMigratedDatabase('callers') }, 'cli');
    const db = openDatabase(config.database);
    try {
      const web = { id: '00000000-0000-0000-0000-000000000001', kind: 'web' } as const;
      const workers = [2, 3].map((n) => ({
        id: `00000000-0000-0000-0000-00000000000${n}`,
        kind: 'worker' as const,
      }));
      assert.deepEqual(await countCallers(db, web), { web: 1, worker: 0 });
      for (const worker of workers) await countCallers(db, worker);
      assert.deepEqual(await countCallers(db, web), { web: 1, worker: 2 });
      await leaveCallers(db, workers[0] ?? assert.fail());
      assert.deepEqual(await countCallers(db, web), { web: 1, worker: 1 });
      // The row of a killed process may be from before Postgres' clock was set back.
      for (const seen of ["now() - interval '11 seconds'", "now() + interval '1 hour'"]) {
        await countCallers(db, workers[1] ?? assert.fail());
        await db('facilitator_callers')
          .where({ kind: 'worker' })
          .update({ seen_at: db.raw(seen) });
        assert.deepEqual(await countCallers(db, web), { web: 1, worker: 0 });
        assert.equal((await db('facilitator_callers')).length, 1);
      }
    } finally {
      await db.destroy();
    }
  });
});

describe("the facilitator's limits without Redis", () => {
  const PER_SECOND = 20;
  /** Half of the rate is for web processes, half for workers. */
  const SPACING_MS = 1000 / (PER_SECOND / 2);

  for (const trouble of ['refuse', 'swallow', 'no Redis'] as const) {
    it(`are divided among the processes: ${trouble}`, async () => {
      const fake = await startFacilitator();
      const proxy = await TcpProxy.start(testServices().redisUrl);
      const logger = createLogger('silent', 'test');
      const redis = openRedis({ url: proxy.url, verifyTls: true }, logger);
      const breaker = openRedisBreaker(redis, logger);
      const { databaseUrl } = testServices();
      const environment = {
        DATABASE_URL: databaseUrl,
        FACILITATOR_URL: fake.url,
        FACILITATOR_MAX_PER_SECOND: String(PER_SECOND),
      };
      const config = loadConfig(environment, 'cli');
      const db = openDatabase(config.database);
      const stores = trouble === 'no Redis' ? { redis: undefined, breaker: undefined } : { redis, breaker };
      const worker = { id: '00000000-0000-0000-0000-000000000009', kind: 'worker' } as const;
      await countCallers(db, worker);
      const facilitator = openFacilitators(config.facilitators, 'web', { db, ...stores }, logger);
      try {
        await eventually(async () => assert.equal(redis.status, 'ready'));
        if (trouble !== 'no Redis') await proxy[trouble]();
        await facilitator.verify(request);
        const began = performance.now();
        const all = await Promise.all(Array.from({ length: 6 }, () => facilitator.verify(request)));
        const ms = performance.now() - began;
        assert.ok(ms >= 5 * SPACING_MS, `six calls within ${Math.round(ms)} ms`);
        assert.equal(fake.calls.verify.length, all.length + 1);
      } finally {
        await facilitator.close();
        await leaveCallers(db, worker);
        breaker.close();
        redis.disconnect();
        await proxy.refuse();
        await fake.close();
        await db.destroy();
      }
    });
  }
});
