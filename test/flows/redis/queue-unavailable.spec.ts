import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { killProcesses, startWorkerProcess } from '../../../lab/world/processes/processes.js';
import { TcpProxy } from '../../../lab/world/proxy/tcp-proxy.js';
import { loadConfig } from '../../../shared/config/config.js';
import { createLogger, type Logger } from '../../../shared/process/logger.js';
import { openRedis, openWorkerRedis } from '../../../shared/queues/connection.js';
import { openQueues } from '../../../shared/queues/enqueue.js';
import { migrate } from '../../../shared/schema/migrate.js';
import { done } from '../../../workers/deps/job-outcome.js';
import { runWorker } from '../../../workers/process/run-worker.js';
import { openExpiring } from '../../support/expiring.js';
import { forAllTests } from '../../support/hooks.js';
import { loggerWithLines } from '../../support/log-lines.js';
import { openRedisUser } from '../../support/redis-user.js';
import { createMigratedDatabase, testServices } from '../../support/suite.js';

/** The most log lines about an unavailable queue store, for any duration. */
const FEW_LINES = 3;
/** A worker that does not listen looks for jobs every five seconds. */
const PATIENCE_MS = 30_000;
/** A worker attempts each of its connections to Redis several times within this time. */
const ATTEMPTS_MS = 2000;
/** A worker on Redis looks for a job within this time, unless the machine is busy. */
const NEXT_LOOK_MS = 11_000;

describe('a worker whose queue lives in Postgres', () => {
  describe('and has no tables there', () => {
    const expiring = forAllTests(() => openExpiring('queue_missing'));
    before(() => expiring.db.raw('DROP SCHEMA bullmq CASCADE'));
    after(killProcesses);

    it('sweeps, logs it once, takes jobs when the tables are created, and stops on SIGTERM', async () => {
      const environment = { DATABASE_URL: expiring.databaseUrl, FACILITATOR_URL: 'http://127.0.0.1:1' };
      const worker = await startWorkerProcess(environment);
      const logged = (event: string) => worker.lines().filter((line) => line.event === event);
      await expiring.untilExpired(await expiring.buildOverdue(3));
      await expiring.untilExpired(await expiring.buildOverdue(3));
      await eventually(() => assert.equal(logged('queue.away').length, 1));
      assert.ok(worker.lines().filter(({ event }) => String(event).startsWith('queue.')).length <= FEW_LINES);

      await migrate(loadConfig(environment, 'migrate'), createLogger('silent', 'test'));
      await eventually(() => assert.equal(logged('queue.back').length, 1));

      // Postgres may break a deadlock with the worker's statements by ending this one.
      await eventually(() => expiring.db.raw('DROP SCHEMA bullmq CASCADE'));
      const late = await startWorkerProcess(environment);
      for (const one of [worker, late])
        assert.deepEqual(await one.stop(), { code: 0, signal: null }, one.output());
    });
  });

  describe('that refuses its first connection', () => {
    let proxy: TcpProxy;
    const { logger, lines } = loggerWithLines<{ event: string }>();
    before(async () => {
      proxy = await TcpProxy.start(await createMigratedDatabase('queue_refused'));
    });
    after(() => proxy.refuse());

    it('works when it is let in, and does not log repeatedly while it waits', async () => {
      await proxy.refuse();
      const { handled, enqueue, close } = openWorker(proxy.url, logger);
      try {
        await eventually(() => assert.deepEqual(queueEvents(), ['queue.away']));
        await proxy.accept();
        await eventually(() => assert.deepEqual(queueEvents(), ['queue.away', 'queue.back']));
        await enqueue('pay_1');
        await eventually(() => assert.deepEqual(handled, ['pay_1']));
      } finally {
        await close();
      }
    });

    function queueEvents(): string[] {
      return lines.map(({ event }) => event).filter((event) => event.startsWith('queue.'));
    }
  });

  describe('that ends the connection on which it has just begun to listen', () => {
    const LISTENERS = `SELECT pid FROM pg_stat_activity
      WHERE datname = current_database() AND state = 'idle' AND query LIKE '%LISTEN bullmq_jobs%'`;
    let proxy: TcpProxy;
    let direct: pg.Client;
    const { logger } = loggerWithLines<{ event: string }>();
    before(async () => {
      const databaseUrl = await createMigratedDatabase('queue_listening');
      proxy = await TcpProxy.start(databaseUrl);
      direct = new pg.Client({ connectionString: databaseUrl });
      await direct.connect();
    });
    after(async () => {
      await direct.end();
      await proxy.refuse();
    });

    /** Waits until the worker listens; returns the process of Postgres that it listens to. */
    const listener = (other?: number): Promise<number> =>
      eventually(async () => {
        const [row] = (await direct.query(LISTENERS)).rows;
        assert.ok(row !== undefined && row.pid !== other);
        return row.pid;
      }, PATIENCE_MS);

    async function end(pid: number): Promise<void> {
      await direct.query('SELECT pg_terminate_backend($1)', [pid]);
      const found = 'SELECT FROM pg_stat_activity WHERE pid = $1';
      await eventually(async () => assert.equal((await direct.query(found, [pid])).rowCount, 0));
    }

    it('listens on the next one, so that jobs need not wait for its next look', async () => {
      const { handled, enqueue, close } = openWorker(proxy.url, logger);
      try {
        const first = await listener();
        // The answer to the next LISTEN and the end of its connection arrive at once.
        const answer = proxy.freeze({ ways: ['down'], from: /LISTEN/ });
        await end(first);
        const second = await listener(first);
        await end(second);
        answer.thaw();
        await listener(second);
        await enqueue('pay_1');
        await eventually(() => assert.deepEqual(handled, ['pay_1']));
      } finally {
        await close();
      }
    });
  });
});

describe('a worker whose Redis cannot be reached', () => {
  let proxy: TcpProxy;
  before(async () => {
    proxy = await TcpProxy.start(testServices().redisUrl);
  });
  after(async () => {
    await killProcesses();
    await proxy.refuse();
  });

  it('logs the first error of its connections in each outage, not one for each attempt', async () => {
    const worker = await startWorkerProcess({
      DATABASE_URL: await createMigratedDatabase('queue_of_redis'),
      REDIS_URL: proxy.url,
      FACILITATOR_URL: 'http://127.0.0.1:1',
    });
    const count = (event: string): number => worker.lines().filter((line) => line.event === event).length;
    await proxy.refuse();
    await eventually(() => assert.equal(count('queue.error'), 1));
    await setTimeout(ATTEMPTS_MS);
    assert.equal(count('queue.error'), 1);
    let backMs = NEXT_LOOK_MS;
    await eventually(async () => {
      await proxy.accept();
      await setTimeout(backMs);
      await proxy.refuse();
      await setTimeout(ATTEMPTS_MS);
      backMs *= 2;
      assert.equal(count('queue.error'), 2);
    });
  });
});

describe('a worker whose user of Redis may take jobs and not finish them', () => {
  const JOBS = 3 * FEW_LINES;
  // A job is finished by a script that trims the queue's events.
  const user = forAllTests(() => openRedisUser(['~*', '&*', '+@all', '-xtrim']));

  it('logs that once, and not for each job', async () => {
    const { logger, lines } = loggerWithLines<{ event: string }>();
    const databaseUrl = await createMigratedDatabase('queue_of_user');
    const { handled, enqueue, close } = openWorker(databaseUrl, logger, user.url);
    try {
      for (let job = 0; job < JOBS; job += 1) {
        await eventually(() => enqueue(`pay_${job}`));
        await eventually(() => assert.ok(handled.includes(`pay_${job}`)));
      }
      const errors = lines.filter(({ event }) => event === 'queue.error');
      assert.ok(errors.length > 0 && errors.length <= FEW_LINES, `${errors.length} lines`);
    } finally {
      await close();
    }
  });
});

describe('queues whose user of Redis may not ask for its version', () => {
  const TRIES = 20;
  const user = forAllTests(() => openRedisUser(['~*', '&*', '+@all', '-info']));

  it('leave nothing on their connection when they fail to open, however often that is tried', async () => {
    const stores = { DATABASE_URL: 'postgres://127.0.0.1:1/none', REDIS_URL: user.url };
    const config = loadConfig({ ...stores, FACILITATOR_URL: 'http://127.0.0.1:1' }, 'web');
    const logger = createLogger('silent', 'test');
    const redis = openRedis({ url: user.url, verifyTls: true }, logger);
    const queues = openQueues(config, { redis, installation: async () => '' }, logger);
    const listeners = (): number =>
      redis.eventNames().reduce((sum, name) => sum + redis.listenerCount(name), 0);
    try {
      await eventually(() => assert.equal(redis.status, 'ready'));
      const before = listeners();
      for (let tries = 0; tries < TRIES; tries += 1) await assert.rejects(queues.depths(), /NOPERM/);
      await eventually(() => assert.equal(listeners(), before));
    } finally {
      await queues.close();
      redis.disconnect();
    }
  });
});

/** A worker for payments and a queue, both in this Redis, or else in this database. */
function openWorker(databaseUrl: string, logger: Logger, redisUrl?: string) {
  const stores = { DATABASE_URL: databaseUrl, ...(redisUrl && { REDIS_URL: redisUrl }) };
  const config = loadConfig({ ...stores, FACILITATOR_URL: 'http://127.0.0.1:1' }, 'worker');
  const redis = config.redis && openWorkerRedis(config.redis, logger);
  const handled: string[] = [];
  const worker = runWorker({
    name: 'settle-payment',
    async handle({ paymentId }) {
      handled.push(paymentId);
      return done;
    },
    config,
    redis,
    installation: '',
    logger,
  });
  const queues = openQueues(config, { redis, installation: async () => '' }, logger);
  return {
    handled,
    enqueue: (paymentId: string) =>
      queues.enqueue({ name: 'settle-payment', payload: { paymentId }, id: paymentId }),
    async close() {
      await worker.close();
      await queues.close();
      redis?.disconnect();
    },
  };
}
