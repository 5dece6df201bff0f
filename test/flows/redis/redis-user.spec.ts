import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { forAllTests } from '../../support/hooks.js';
import { openRedisUser } from '../../support/redis-user.js';
import { openWebhookFlow } from '../../support/webhook-flow.js';

const PAYMENTS = 3;

describe('the user of Redis in docs/operate.md', () => {
  const user = forAllTests(async () => {
    const page = await readFile('docs/operate.md', 'utf8');
    const [, rights] = /`ACL SETUSER checkout on >password ([^`]+)`/.exec(page) ?? [];
    assert.ok(rights !== undefined);
    return await openRedisUser(rights.split(' '));
  });

  it('may do all that payments, webhooks and the rate limits ask of it', async () => {
    const flow = await openWebhookFlow('redis_user', { environment: { REDIS_URL: user.url } });
    try {
      const { id: endpointId } = await flow.addEndpoint({ enabled_events: ['checkout.session.completed'] });
      for (let n = 0; n < PAYMENTS; n += 1) {
        const { id } = await flow.buildSession();
        assert.equal((await flow.pay(id)).status, 200);
      }
      await flow.untilSucceeded(endpointId, PAYMENTS);
      await flow.app.apiRateLimiter.take('merchant');
      await flow.app.queues.depths();
      assert.deepEqual(await user.refusals(), []);
    } finally {
      await flow.close();
    }
  });
});
