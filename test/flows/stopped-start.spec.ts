import assert from 'node:assert/strict';
import { killProcesses, startProcess } from '../../lab/world/processes/processes.js';
import { TcpProxy } from '../../lab/world/proxy/tcp-proxy.js';
import { testServices } from '../support/suite.js';

describe('a process that is told to stop while it starts', () => {
  let postgres: TcpProxy;
  before(async () => {
    postgres = await TcpProxy.start(testServices().databaseUrl);
  });
  after(async () => {
    await killProcesses();
    await postgres.refuse();
  });

  // The first process of a container gets only signals that it listens for: to be ended by one is not enough there.
  for (const entry of ['api/server', 'workers/main'] as const)
    for (const signal of ['SIGTERM', 'SIGINT'] as const)
      it(`${entry} by ${signal}, while Postgres does not answer: ends by itself`, async () => {
        postgres.freeze();
        const starting = await startProcess(entry, {
          DATABASE_URL: postgres.url,
          REDIS_URL: testServices().redisUrl,
          FACILITATOR_URL: 'http://127.0.0.1:1',
          PORT: '0',
        });
        await starting.logged('service.starting');
        starting.signal(signal);
        assert.deepEqual(await starting.exited, { code: 0, signal: null });
        assert.equal(starting.errors(), '');
        postgres.thaw();
      });
});
