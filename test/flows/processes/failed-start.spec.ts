import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { findFreePort } from '../../../lab/world/http/listen.js';
import { type EntryPoint, killProcesses, startProcess } from '../../../lab/world/processes/processes.js';
import { createDatabase, createMigratedDatabase, testServices } from '../../support/suite.js';

describe('a start with a wrong configuration', () => {
  after(killProcesses);

  async function failedStart(entry: EntryPoint, env: Record<string, string>): Promise<string> {
    const failed = await startProcess(entry, env);
    assert.deepEqual(await failed.exited, { code: 1, signal: null }, failed.output());
    // Standard output holds at most the first line of a log.
    const logged = failed.lines().map(({ event }) => event);
    assert.ok(logged.every((event) => event === 'service.starting') && logged.length <= 1, failed.output());
    return failed.errors();
  }

  /** Asserts that exactly these variables are named, each once, in one sentence. */
  function assertNames(errors: string, names: string[]): void {
    const complaints = errors.trim().split('\n').slice(1);
    assert.deepEqual(
      complaints.map((line) => line.trim().split(' ', 1)[0]).sort(),
      [...names].sort(),
      errors,
    );
    for (const line of complaints) assert.match(line, /^ {2}[A-Z].*[.)]$/);
    assert.doesNotMatch(errors, /\bat .*:\d+:\d+/);
  }

  const MIGRATE = 'shared/migrate';

  it('workers/main names every missing variable', async () => {
    const errors = await failedStart('workers/main', { NODE_ENV: 'production' });
    assertNames(errors, ['DATABASE_URL', 'FACILITATOR_URL', 'ENCRYPTION_KEY']);
  });

  it('api/server names every malformed variable, and prints no secret', async () => {
    const malformed = {
      DATABASE_URL: 'mysql://user:pass-word@localhost/db',
      REDIS_URL: 'http://:pass-word@localhost',
      FACILITATOR_URL: 'pass-word',
      ENCRYPTION_KEY: Buffer.from('pass-word').toString('base64'),
      PORT: '70000',
      HOST: 'pay.example',
      BASE_URL: 'pay.example',
      DATABASE_POOL_SIZE: '0',
      DATABASE_TLS_VERIFY: 'no',
      REDIS_TLS_VERIFY: '1',
      FACILITATOR_KEY_ID: 'only-half',
      FACILITATOR_TIMEOUT_MS: '8s',
      FACILITATOR_SETTLE_TIMEOUT_MS: '-1',
      SETTLE_WAIT_MS: '1e3',
      CONFIRMATIONS_EIP155_8453: 'many',
      RPC_URL_SOLANA: 'localhost',
      RATE_LIMIT_API_PER_SECOND: '0',
      RATE_LIMIT_LINK_PER_MINUTE: 'x',
      TRUST_PROXY: 'perhaps',
      WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'TRUE',
      WORKER_QUEUES: 'nothing',
      WORKER_CONCURRENCY: '1.5',
      WORKER_METRICS_PORT: '0',
      LOG_LEVEL: 'loud',
    };
    const errors = await failedStart('api/server', malformed);
    assertNames(errors, Object.keys(malformed));
    assert.doesNotMatch(errors, /pass-word|cGFzcy13b3Jk/);
  });

  it(`${MIGRATE} needs only the database's variables, in production as well`, async () => {
    assertNames(await failedStart(MIGRATE, { NODE_ENV: 'production' }), ['DATABASE_URL']);
  });

  it('api/server refuses an address that is not of this machine', async () => {
    const errors = await failedStart('api/server', {
      DATABASE_URL: await createDatabase('foreign_host'),
      FACILITATOR_URL: 'http://127.0.0.1:1',
      REDIS_URL: testServices().redisUrl,
      ENCRYPTION_KEY: Buffer.alloc(32).toString('base64'),
      // No machine has this address: the range is for examples.
      HOST: '192.0.2.1',
    });
    assert.equal(errors, 'HOST is 192.0.2.1, which is not an address of this machine.\n');
  });

  for (const [entry, variable] of [
    ['api/server', 'PORT'],
    ['workers/main', 'WORKER_METRICS_PORT'],
  ] as const) {
    it(`${entry} names ${variable} when another process listens there`, async () => {
      const other = createServer().listen(0);
      await once(other, 'listening');
      try {
        const { port } = other.address() as AddressInfo;
        const errors = await failedStart(entry, {
          DATABASE_URL: await createMigratedDatabase(`used_${variable.toLowerCase()}`),
          FACILITATOR_URL: 'http://127.0.0.1:1',
          REDIS_URL: testServices().redisUrl,
          ENCRYPTION_KEY: Buffer.alloc(32).toString('base64'),
          [variable]: String(port),
        });
        assert.equal(
          errors,
          `${variable} is ${port}, where another process already listens. Set another port, or end that process.\n`,
        );
      } finally {
        other.close();
      }
    });
  }

  it('workers/main exits when the database cannot be reached, and prints no password', async () => {
    const port = await findFreePort();
    const errors = await failedStart('workers/main', {
      DATABASE_URL: `postgres://user:pass-word@127.0.0.1:${port}/db`,
      FACILITATOR_URL: 'http://127.0.0.1:1',
      REDIS_URL: testServices().redisUrl,
    });
    assert.equal(
      errors,
      `The database of DATABASE_URL cannot be used: connect ECONNREFUSED 127.0.0.1:${port}\n`,
    );
  });

  it(`${MIGRATE} exits when there is no such database, and prints no stack`, async () => {
    const url = new URL(testServices().databaseUrl);
    url.pathname = '/nowhere';
    const errors = await failedStart(MIGRATE, { DATABASE_URL: url.href });
    assert.equal(errors, 'The database of DATABASE_URL cannot be used: database "nowhere" does not exist\n');
  });
});
