import assert from 'node:assert/strict';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { killProcesses, type WebServiceProcess } from '../../../lab/world/processes/processes.js';
import { TcpProxy } from '../../../lab/world/proxy/tcp-proxy.js';
import { forAllTests } from '../../support/hooks.js';
import { minimal, SESSIONS } from '../../support/orders.js';
import { testServices } from '../../support/suite.js';
import { openWebProcesses } from '../../support/web-process.js';

const CREATES = 20;
/** The timeout of a command to Redis. */
const COMMAND_MS = 2000;

describe('a web process whose Redis hangs', () => {
  const processes = forAllTests(() => openWebProcesses('hanging_redis'));
  let redis: TcpProxy;
  let web: WebServiceProcess;
  before(async () => {
    redis = await TcpProxy.start(testServices().redisUrl);
    web = await processes.start({ REDIS_URL: redis.url });
    await untilReadyzIs({ status: 'ready', queue_store: 'ok' });
  });
  after(async () => {
    await killProcesses();
    await redis.refuse();
  });

  async function untilReadyzIs(expected: Record<string, string | undefined>): Promise<void> {
    await eventually(async () => {
      const { status, text } = await processes.send(web.port, 'GET', '/readyz');
      const { queue_store, status: word, degraded } = JSON.parse(text);
      assert.deepEqual({ status: word, queue_store, ...(degraded && { degraded }) }, expected);
      assert.equal(status, 200);
    });
  }

  const create = () => processes.send(web.port, 'POST', SESSIONS, { body: minimal });

  it('serves every create, and only the first one waits for the timeout', async () => {
    redis.swallow();
    assert.equal((await create()).status, 200);
    const startedAt = performance.now();
    for (let i = 0; i < CREATES; i += 1) assert.equal((await create()).status, 200);
    const ms = performance.now() - startedAt;
    assert.ok(ms < (CREATES * COMMAND_MS) / 2, `${CREATES} creates took ${Math.round(ms)} ms`);
  });

  it('is ready, and names the queue store as degraded', async () => {
    await untilReadyzIs({ status: 'ready', degraded: 'queue store', queue_store: 'down' });
  });

  it('logs it once, and uses Redis again when Redis answers', async () => {
    await redis.accept();
    await untilReadyzIs({ status: 'ready', queue_store: 'ok' });
    await eventually(() => {
      const events = web.lines().map(({ event }) => String(event));
      assert.deepEqual(
        events.filter((event) => event === 'redis.silent' || event === 'redis.answers'),
        ['redis.silent', 'redis.answers'],
      );
    });
  });
});
