import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { eventually } from '../../lab/world/processes/eventually.js';
import { nodeProgram } from '../../lab/world/processes/processes.js';
import { StartedProcess } from '../../lab/world/processes/supervisor.js';
import { TcpProxy } from '../../lab/world/proxy/tcp-proxy.js';
import { ensureBuilt } from '../../local/build/ensure-built.mjs';
import { projectRoot } from '../../local/toolchain/project-root.js';
import { CheckoutSession } from '../../shared/checkout-sessions/model.js';
import { waitAtMost } from '../../shared/process/timeout.js';
import { openExpiring } from '../support/expiring.js';
import { forAllTests } from '../support/hooks.js';
import { testServices } from '../support/suite.js';

/** More than one batch of the worker. */
const MANY = 1100;
/** ioredis' pause before it reconnects. */
const RECONNECT_MS = 50;
/** A worker that does not stop by itself is closed after 20 s. */
const STOPS_WITHIN_MS = 19_000;

describe('the worker that expires sessions, without a reliable queue,', () => {
  const expiring = forAllTests(() => openExpiring('expire_without_queue'));
  afterEach(() => expiring.closeWorkers());

  it('expires sessions although Redis is emptied repeatedly', async () => {
    const redis = new Redis(testServices().redisUrl);
    try {
      await expiring.startWorkerWith({ REDIS_URL: testServices().redisUrl });
      await expiring.startWorkerWith({ REDIS_URL: testServices().redisUrl });
      for (let round = 0; round < 5; round++) {
        const ids = await expiring.buildOverdue(10);
        let emptied = 0;
        await eventually(async () => {
          await redis.flushall();
          emptied += 1;
          const open = await CheckoutSession.query(expiring.db)
            .whereIn('id', ids)
            .whereNot('status', 'expired');
          assert.equal(open.length, 0, 'not expired yet');
        });
        assert.ok(emptied > 0);
        await expiring.untilExpired(ids);
      }
    } finally {
      await redis.quit();
    }
  });

  const redisAt = (url: string): Record<string, string> => ({
    REDIS_URL: url,
    WORKER_QUEUES: 'expire-sessions',
  });

  /** One connection adds jobs, one processes them, one waits for them. */
  const CONNECTIONS = 3;

  async function stopAll(proxy: TcpProxy): Promise<void> {
    await proxy.accept();
    await eventually(() =>
      assert.ok(proxy.connections >= CONNECTIONS * expiring.workers.size, 'not reconnected yet'),
    );
    await expiring.closeWorkers();
    await proxy.refuse();
  }

  it('expires sessions when Redis was never available', async () => {
    const proxy = await TcpProxy.start(testServices().redisUrl);
    await proxy.refuse();
    const ids = await expiring.buildOverdue(MANY);
    await expiring.startWorkerWith(redisAt(proxy.url));
    await expiring.startWorkerWith(redisAt(proxy.url));
    await expiring.untilExpired(ids);
    await stopAll(proxy);
  });

  for (const fault of ['refuse', 'swallow'] as const) {
    const what =
      fault === 'refuse'
        ? 'refuses connections, recovers and refuses them again'
        : 'hangs, recovers and hangs again';
    it(`expires sessions while Redis ${what}`, async () => {
      const proxy = await TcpProxy.start(testServices().redisUrl);
      await expiring.startWorkerWith(redisAt(proxy.url));
      await expiring.untilExpired(await expiring.buildOverdue(5));
      for (let round = 0; round < 2; round++) {
        await proxy[fault]();
        await expiring.untilExpired(await expiring.buildOverdue(5));
        await proxy.accept();
        await expiring.untilExpired(await expiring.buildOverdue(5));
      }
      await proxy[fault]();
      await expiring.untilExpired(await expiring.buildOverdue(5));
      await stopAll(proxy);
    });
  }

  it('stops by itself when it is told to just as a connection is reconnected', async () => {
    const redis = new Redis(testServices().redisUrl);
    try {
      const worker = await expiring.startWorkerWith(redisAt(testServices().redisUrl));
      const waiting = await eventually(async () => {
        const clients = String(await redis.client('LIST')).split('\n');
        const ids = clients
          .filter((line) => line.includes('cmd=bzpopmin'))
          .map((line) => /id=(\d+)/.exec(line)?.[1]);
        assert.equal(ids.length, 1);
        return ids[0] ?? '';
      });
      await redis.client('KILL', 'ID', waiting);
      await sleep(RECONNECT_MS / 5);
      assert.ok(await waitAtMost(STOPS_WITHIN_MS, worker.close()));
    } finally {
      await redis.quit();
    }
  });

  it('stops when it is told to while Redis is unavailable, and leaves nothing running', async () => {
    const proxy = await TcpProxy.start(testServices().redisUrl);
    await proxy.refuse();
    const environment = {
      DATABASE_URL: expiring.databaseUrl,
      FACILITATOR_URL: 'http://127.0.0.1:1',
      REDIS_URL: proxy.url,
    };
    // A process of its own, which ends by itself once nothing keeps it alive, and not before.
    const script = `
        import { readConfig } from './dist/shared/config/config.js';
        import { createLogger } from './dist/shared/process/logger.js';
        import { startWorker } from './dist/workers/process/start-worker.js';
        const worker = await startWorker(readConfig('worker'), createLogger('silent', 'test'));
        process.once('SIGTERM', () => worker.close());
        console.log('{"event":"started"}');`;
    await ensureBuilt(projectRoot());
    const worker = new StartedProcess(
      nodeProgram(['--input-type=module', '--eval', script], { environment }),
    );
    try {
      // The worker has run for a while without Redis.
      await expiring.untilExpired(await expiring.buildOverdue(1));
      await expiring.untilExpired(await expiring.buildOverdue(1));
      await worker.logged('started');
      assert.deepEqual(await worker.stop(), { code: 0, signal: null }, worker.output());
    } finally {
      await worker.kill();
      await proxy.refuse();
    }
  });
});
