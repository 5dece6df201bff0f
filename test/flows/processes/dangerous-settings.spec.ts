import assert from 'node:assert/strict';
import {
  killProcesses,
  startWebProcess,
  startWorkerProcess,
} from '../../../lab/world/processes/processes.js';
import { createMigratedDatabase, testServices } from '../../support/suite.js';

describe('a start in production', () => {
  after(killProcesses);

  /** test/unit/config/ has every dangerous setting, and none that is called so without being one. */
  it('logs one warning for each dangerous setting', async () => {
    const environment = {
      NODE_ENV: 'production',
      // Other specs' secrets in their shared database are sealed with other keys.
      DATABASE_URL: await createMigratedDatabase('dangerous_settings'),
      REDIS_URL: testServices().redisUrl,
      FACILITATOR_URL: 'http://127.0.0.1:1',
      ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
      TRUST_PROXY: 'true',
      WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true',
    };
    for (const start of [startWebProcess, startWorkerProcess]) {
      const service = await start(environment);
      // A process looks at the migrations, which are current, before it stops.
      await service.stop();
      const warned = service.lines().filter(({ level }) => level === 'warn');
      assert.deepEqual(
        warned.map(({ event }) => event).filter((event) => event !== 'config.redis_may_evict'),
        ['config.local_base_url', 'config.trusts_every_proxy', 'config.private_webhooks'],
      );
    }
  });
});
