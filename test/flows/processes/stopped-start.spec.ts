import assert from 'node:assert/strict';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { killProcesses, nodeProgram, startProcess } from '../../../lab/world/processes/processes.js';
import { StartedProcess } from '../../../lab/world/processes/supervisor.js';
import { TcpProxy } from '../../../lab/world/proxy/tcp-proxy.js';
import { testServices } from '../../support/suite.js';

describe('a process that is told to stop while it starts', () => {
  let postgres: TcpProxy;
  before(async () => {
    postgres = await TcpProxy.start(testServices().databaseUrl);
  });
  afterEach(async () => {
    postgres.thaw();
    postgres.cut();
    await eventually(() => assert.equal(postgres.connections, 0));
  });
  after(async () => {
    await killProcesses();
    await postgres.refuse();
  });

  // The first process of a container gets only signals that it listens for: to be ended by one is not enough there.
  for (const [entry, signal] of [
    ['api/server', 'SIGTERM'],
    ['workers/main', 'SIGINT'],
  ] as const)
    it(`ends by itself while Postgres does not answer: ${entry}, by ${signal}`, async () => {
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
    });

  for (const { args, signal, code } of [
    { args: ['dist/shared/migrate.js'], signal: 'SIGTERM', code: 143 },
    { args: ['local/commands/merchants.mjs', 'list'], signal: 'SIGINT', code: 130 },
  ] as const)
    it(`ends by itself, and says that it has not finished: ${args.join(' ')}, by ${signal}`, async () => {
      postgres.freeze();
      const command = new StartedProcess(nodeProgram(args, { environment: { DATABASE_URL: postgres.url } }));
      await eventually(() => assert.equal(postgres.connections, 1));
      command.signal(signal);
      assert.deepEqual(await command.exited, { code, signal: null });
    });

  it('closes when the signal comes as its start ends, before its listeners have their turn', async () => {
    const start = `
      import { closeOnSignal, endOnSignal } from './dist/shared/process/shutdown.js';
      endOnSignal();
      setTimeout(() => {}, 3000);
      process.kill(process.pid, 'SIGTERM');
      closeOnSignal({ close: async () => console.error('closed') }, { info() {}, error() {} });`;
    const started = new StartedProcess(nodeProgram(['--input-type=module', '--eval', start]));
    assert.deepEqual(await started.exited, { code: 0, signal: null });
    assert.equal(started.errors(), 'closed\n');
  });
});
