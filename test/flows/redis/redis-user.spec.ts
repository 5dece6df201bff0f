import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { Redis } from 'ioredis';
import { testServices } from '../../support/suite.js';
import { openWebhookFlow } from '../../support/webhook-flow.js';

const PAYMENTS = 3;

describe('the user of Redis in docs/operate.md', () => {
  const NAME = 'checkout';
  let admin: Redis;
  before(async () => {
    admin = new Redis(testServices().redisUrl);
    const page = await readFile('docs/operate.md', 'utf8');
    const [, rights] = /`ACL SETUSER checkout on >password ([^`]+)`/.exec(page) ?? [];
    assert.ok(rights !== undefined);
    await admin.call('ACL', 'SETUSER', NAME, 'on', '>password', ...rights.split(' '));
    await admin.call('ACL', 'LOG', 'RESET');
  });
  after(async () => {
    await admin.call('ACL', 'DELUSER', NAME);
    admin.disconnect();
  });

  it('may do all that payments, webhooks and the rate limits ask of it', async () => {
    const redisUrl = new URL(testServices().redisUrl);
    redisUrl.username = NAME;
    redisUrl.password = 'password';
    const flow = await openWebhookFlow('redis_user', { environment: { REDIS_URL: redisUrl.href } });
    try {
      const { id: endpointId } = await flow.addEndpoint({ enabled_events: ['checkout.session.completed'] });
      for (let n = 0; n < PAYMENTS; n += 1) {
        const { id } = await flow.buildSession();
        assert.equal((await flow.pay(id)).status, 200);
      }
      await flow.untilSucceeded(endpointId, PAYMENTS);
      await flow.app.apiRateLimiter.take('merchant');
      await flow.app.queues.depths();
      const refused = JSON.stringify(await admin.call('ACL', 'LOG'));
      assert.equal(refused, '[]');
    } finally {
      await flow.close();
    }
  });
});
