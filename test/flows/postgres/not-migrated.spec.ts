import assert from 'node:assert/strict';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { killProcesses, type ServiceProcess, startProcess } from '../../../lab/world/processes/processes.js';
import { createDatabase, testServices } from '../../support/suite.js';

describe('a process that starts before npm run migrate', () => {
  afterEach(killProcesses);

  const environmentOf = (databaseUrl: string): Record<string, string> => ({
    DATABASE_URL: databaseUrl,
    FACILITATOR_URL: 'http://127.0.0.1:1',
    REDIS_URL: testServices().redisUrl,
    ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64'),
    PORT: '0',
  });

  /** A worker looks for due work once a second; a failure of reports comes after three seconds or more. */
  async function assertFailuresLoggedOnce(worker: ServiceProcess): Promise<void> {
    await worker.logged('reports.fold_failed');
    const failed = worker.lines().filter(({ event }) => event === 'sweep.failed');
    const reasons = failed.map(({ err }) => JSON.stringify(err));
    assert.ok(reasons.length >= 3, 'one for each kind of due work');
    assert.deepEqual(reasons, [...new Set(reasons)]);
  }

  for (const [entry, started] of [
    ['api/server', 'web.listening'],
    ['workers/main', 'worker.started'],
  ] as const) {
    it(`${entry} starts, is alive and not ready, says what to run, and repeats no failure`, async () => {
      const database = await createDatabase(`not_migrated_${entry.replace('/', '_')}`);
      const early = await startProcess(entry, environmentOf(database));
      const { port } = await early.logged(started);
      const { level, hint } = await early.logged('database.not_migrated');
      assert.equal(level, 'warn');
      assert.match(String(hint), /run npm run migrate/);
      if (port === undefined) return await assertFailuresLoggedOnce(early);
      const ask = (path: string): Promise<Response> => fetch(`http://127.0.0.1:${port}${path}`);
      await eventually(async () => {
        const answer = await ask('/readyz');
        const { status, database: postgres, migrations } = JSON.parse(await answer.text());
        const expected = [503, 'not_ready', 'ok', 'behind'];
        assert.deepEqual([answer.status, status, postgres, migrations], expected);
      });
      assert.equal((await ask('/healthz')).status, 200);
    });
  }
});
