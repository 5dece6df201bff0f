import assert from 'node:assert/strict';
import {
  killProcesses,
  startProcess,
  startWebProcess,
  startWorkerProcess,
} from '../../../lab/world/processes/processes.js';
import { createMigratedDatabase, testServices } from '../../support/suite.js';

describe('a start in production', () => {
  let databaseUrl: string;
  // Other specs' secrets in their shared database are sealed with other keys.
  before(async () => {
    databaseUrl = await createMigratedDatabase('dangerous_settings');
  });
  after(killProcesses);

  const production = (more: Record<string, string>): Record<string, string> => ({
    NODE_ENV: 'production',
    DATABASE_URL: databaseUrl,
    REDIS_URL: testServices().redisUrl,
    FACILITATOR_URL: 'http://127.0.0.1:1',
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    ...more,
  });

  function warned(lines: Record<string, unknown>[]): unknown[] {
    return lines.filter(({ level }) => level === 'warn').map(({ event }) => event);
  }

  it('logs one warning for each dangerous setting', async () => {
    const environment = production({ TRUST_PROXY: 'true', WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true' });
    for (const start of [startWebProcess, startWorkerProcess]) {
      const service = await start(environment);
      // A process looks at the migrations, which are current, before it stops.
      await service.stop();
      const warnings = warned(service.lines()).filter((event) => event !== 'config.redis_may_evict');
      assert.deepEqual(warnings, [
        'config.local_base_url',
        'config.trusts_every_proxy',
        'config.private_webhooks',
      ]);
    }
  });

  it('logs no warning when no setting is dangerous', async () => {
    const service = await startWebProcess(production({ BASE_URL: 'https://pay.example', TRUST_PROXY: '1' }));
    assert.deepEqual(
      warned(service.lines()).filter((event) => String(event).startsWith('config.')),
      [],
    );
    await service.kill();
  });

  it('is refused when a password or token is too easy to guess', async () => {
    const failed = await startProcess(
      'api/server',
      production({ ADMIN_PASSWORD: 'x', METRICS_TOKEN: 'pass-word' }),
    );
    assert.deepEqual(await failed.exited, { code: 1, signal: null });
    assert.match(failed.errors(), /METRICS_TOKEN must have .*\n.*ADMIN_PASSWORD must have/);
    assert.doesNotMatch(failed.errors(), /pass-word/);
  });
});
