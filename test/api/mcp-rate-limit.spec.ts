import assert from 'node:assert/strict';
import { mock } from 'node:test';
import request from 'supertest';
import { buildMerchant } from '../../lab/world/shop/factories.js';
import { assertLimited, client } from '../support/api-client.js';
import { openTestApp, type TestApp } from '../support/app.js';
import { callText, postMcp } from '../support/mcp.js';
import { minimal } from '../support/orders.js';
import { stopClock } from '../support/stopped-clock.js';

const LIST_TOOLS = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });

describe('the rate limit at /mcp', () => {
  const PER_SECOND = 3;
  const SHARE = 2 * PER_SECOND;
  let apps: TestApp[];
  let app: TestApp;
  before(async () => {
    const environment = { REDIS_URL: '', RATE_LIMIT_API_PER_SECOND: String(PER_SECOND) };
    apps = [await openTestApp(environment), await openTestApp(environment)];
    [app] = apps as [TestApp];
  });
  // Holds the windows open.
  beforeEach(() => {
    stopClock();
  });
  afterEach(() => mock.restoreAll());
  after(() => Promise.all(apps.map((one) => one.close())));

  const CALL = callText('list_payments', '{}');

  it('is shared with /v1 and by all processes', async () => {
    const { testKey, liveKey } = await buildMerchant(app.db);
    for (let i = 0; i < SHARE; i++) {
      const one = apps[i % 2] as TestApp;
      if (i < 3) await postMcp(one, testKey, CALL).expect(200);
      else await client(one, testKey).get('/v1/payments').expect(200);
    }
    assertLimited(await client(app, testKey).get('/v1/payments'));
    const limited = await postMcp(app, testKey, CALL).expect(200);
    const { body } = limited;
    assert.match(limited.get('Retry-After') ?? '', /^[1-9][0-9]*$/);
    assert.equal(body.result.isError, true);
    const { request_id: _, ...error } = body.result.structuredContent.error;
    const rest = await client(app, testKey).get('/v1/payments');
    assert.deepEqual({ ...error, request_id: rest.body.error.request_id }, rest.body.error);
    const live = await postMcp(app, liveKey, CALL);
    assert.equal(live.body.result.isError, undefined, 'the other mode has a share of its own');
  });

  it('counts every request once, and answers 429 to messages other than calls', async () => {
    const { testKey } = await buildMerchant(app.db);
    await postMcp(app, testKey, LIST_TOOLS).expect(200);
    await postMcp(app, testKey, callText('pay', '{}')).expect(200);
    await postMcp(app, testKey, callText('create_checkout_session', '{}')).expect(200);
    await postMcp(app, testKey, '{').expect(400);
    await postMcp(app, testKey, LIST_TOOLS).set('Accept', 'text/html').expect(406);
    await request(app.server).get('/mcp').set('Authorization', `Bearer ${testKey}`).expect(405);
    assertLimited(await postMcp(app, testKey, LIST_TOOLS));
    const made = await postMcp(app, testKey, callText('create_checkout_session', JSON.stringify(minimal)));
    assert.equal(made.body.result.structuredContent.error.code, 'rate_limit');
  });
});
