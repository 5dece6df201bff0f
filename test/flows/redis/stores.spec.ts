import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Redis } from 'ioredis';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { startTestRedis, type TestServer } from '../../../lab/world/processes/services.js';
import { TcpProxy } from '../../../lab/world/proxy/tcp-proxy.js';
import { loadConfig } from '../../../shared/config/config.js';
import { openDatabase } from '../../../shared/db/knex.js';
import { createLogger, type Logger } from '../../../shared/process/logger.js';
import { openRedis, warnIfRedisMayEvict } from '../../../shared/queues/connection.js';
import { loggerWithLines } from '../../support/log-lines.js';
import { testServices } from '../../support/suite.js';

describe('a connection to a store with a self-signed certificate', () => {
  let redis: TcpProxy;
  let postgres: TcpProxy;
  before(async () => {
    const services = testServices();
    redis = await TcpProxy.start(services.redisUrl, { tls: true });
    postgres = await TcpProxy.start(services.databaseUrl, { tls: true });
  });
  after(() => Promise.all([redis.refuse(), postgres.refuse()]));

  async function askPostgres(settings: Record<string, string>): Promise<unknown> {
    const db = openDatabase(loadConfig({ DATABASE_URL: postgres.url, ...settings }, 'migrate').database);
    try {
      return (await db.raw('SELECT 1 AS one')).rows;
    } finally {
      await db.destroy();
    }
  }

  async function askRedis(settings: Record<string, string>, logger = createLogger('silent', 'test')) {
    const url = { DATABASE_URL: postgres.url, REDIS_URL: redis.url };
    const config = loadConfig({ ...url, ...settings }, 'migrate').redis;
    assert.ok(config !== undefined);
    const client = openRedis(config, logger);
    try {
      await once(client, 'ready'); // Rejects with the first error.
      return await client.ping();
    } finally {
      client.disconnect();
    }
  }

  it('is refused for Postgres, unless DATABASE_TLS_VERIFY is false', async () => {
    await assert.rejects(askPostgres({}), /self-signed certificate/);
    assert.deepEqual(await askPostgres({ DATABASE_TLS_VERIFY: 'false' }), [{ one: 1 }]);
  });

  it('is refused for Redis, unless REDIS_TLS_VERIFY is false', async () => {
    await assert.rejects(askRedis({}), /self-signed certificate/);
    assert.equal(await askRedis({ REDIS_TLS_VERIFY: 'false' }), 'PONG');
  });

  for (const kind of ['one', 'cluster', 'sentinel'] as const)
    it(`is refused for Redis (${kind}) by a line that says what to change`, async () => {
      const { logger, lines } = loggerWithLines<{ event: string; hint?: string }>('error');
      const scheme = kind === 'one' ? 'rediss' : `rediss+${kind}`;
      const url = redis.url.replace(/^rediss/, scheme).replace(/\/?$/, kind === 'sentinel' ? '/main' : '');
      await assert.rejects(askRedis({ REDIS_URL: url }, logger));
      assert.deepEqual(
        lines.map(({ event }) => event),
        ['redis.away'],
      );
      const hint = lines[0]?.hint ?? '';
      assert.match(hint, /REDIS_URL .+ certificate .+ NODE_EXTRA_CA_CERTS=.+ REDIS_TLS_VERIFY=false/);
    });

  it('is not spoken of where a Redis without TLS cannot be reached', async () => {
    const { logger, lines } = loggerWithLines<{ event: string; hint?: string }>('error');
    await assert.rejects(askRedis({ REDIS_URL: 'redis+cluster://127.0.0.1:1' }, logger));
    assert.deepEqual(
      lines.map(({ event, hint }) => [event, hint]),
      [['redis.away', undefined]],
    );
  });
});

describe('a Redis with an eviction policy', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestRedis();
  });
  after(() => server.stop());

  it('is warned about in the log, and one without is not', async () => {
    const { logger, lines } = loggerWithLines<{ event: string; policy?: string }>('warn');
    const operator = new Redis(server.url);
    for (const policy of ['noeviction', 'allkeys-lru']) {
      await operator.config('SET', 'maxmemory-policy', policy);
      await connectOnce(logger);
    }
    operator.disconnect();
    assert.deepEqual(
      lines.map((line) => [line.event, line.policy]),
      [['config.redis_may_evict', 'allkeys-lru']],
    );
  });

  it('is warned about when it was connected before the check, as in a web process that waited for Postgres', async () => {
    const { logger, lines } = loggerWithLines<{ event: string }>('warn');
    const client = openRedis({ url: server.url, verifyTls: true }, logger);
    await eventually(() => client.config('SET', 'maxmemory-policy', 'allkeys-lru'));
    warnIfRedisMayEvict(client, logger);
    await client.ping();
    client.disconnect();
    assert.deepEqual(
      lines.map(({ event }) => event),
      ['config.redis_may_evict'],
    );
  });

  /** Connects and waits until the policy has been checked. */
  async function connectOnce(logger: Logger): Promise<void> {
    const client = openRedis({ url: server.url, verifyTls: true }, logger);
    warnIfRedisMayEvict(client, logger);
    await eventually(() => client.ping());
    // Redis answers in order, so that the answer about the policy has come before this one.
    await client.ping();
    client.disconnect();
  }
});
