import assert from 'node:assert/strict';
import request from 'supertest';
import { buildMerchant } from '../../lab/world/shop/factories.js';
import { openTestApp, type TestApp } from '../support/app.js';

const PASSWORD = 'open sesame, please';
const SERIES =
  /^checkout_http_request_seconds_count\{method="(\w+)",route="([^"]*)",status="(\d+)"\} (\d+)$/gm;

describe('the route label of a request in metrics and log', () => {
  let app: TestApp;
  let narrow: TestApp;
  let key: string;
  before(async () => {
    app = await openTestApp({ ADMIN_PASSWORD: PASSWORD, METRICS_TOKEN: PASSWORD });
    narrow = await openTestApp({ RATE_LIMIT_LINK_PER_MINUTE: '1', RATE_LIMIT_API_PER_SECOND: '1' });
    key = (await buildMerchant(app.db)).testKey;
  });
  after(() => Promise.all([app.close(), narrow.close()]));

  async function counted(of: TestApp): Promise<Map<string, number>> {
    const series = [...(await of.metrics.read()).matchAll(SERIES)];
    return new Map(
      series.map(([, method, route, status, count]) => [`${method} ${route} ${status}`, Number(count)]),
    );
  }

  async function labelsOf(send: () => Promise<unknown>, of: TestApp): Promise<string[]> {
    const before_ = await counted(of);
    await send();
    const grown = [...(await counted(of))].filter(([name, count]) => count > (before_.get(name) ?? 0));
    return grown.map(([name]) => name);
  }

  async function labelOf(send: (server: TestApp['server']) => request.Test, of = app): Promise<string> {
    const labels = await labelsOf(async () => await send(of.server), of);
    assert.equal(labels.length, 1, JSON.stringify(labels));
    return labels[0] ?? '';
  }

  type Send = [
    method: 'get' | 'post' | 'put' | 'delete' | 'head',
    path: string,
    label: string,
    body?: string,
  ];
  const withKey: Send[] = [
    ['get', '/v1/checkout/sessions', 'GET /v1/checkout/sessions 200'],
    ['get', '/v1/checkout/sessions/cs_test_1', 'GET /v1/checkout/sessions/:id 404'],
    ['get', '/v1/checkout/sessions/%zz', 'GET /v1/checkout/sessions/:id 404'],
    ['get', '/v1/checkout/sessions?limit=x', 'GET /v1/checkout/sessions 400'],
    ['post', '/v1/checkout/sessions', 'POST /v1/checkout/sessions 400', '{'],
    ['post', '/v1/checkout/sessions/cs_test_1/expire', 'POST /v1/checkout/sessions/:id/expire 404'],
    ['delete', '/v1/checkout/sessions/cs_test_1', 'DELETE /v1/checkout/sessions/:id 405'],
    ['put', '/v1/webhook_endpoints/we_1', 'other /v1/webhook_endpoints/:id 405'],
    ['post', '/v1/payments', 'POST /v1/payments 405'],
    ['get', '/v1/keys', 'GET /v1/keys 200'],
    ['delete', '/v1/keys/key_1', 'DELETE /v1/keys/:id 404'],
    ['get', '/v1/payments/pay_1', 'GET /v1/payments/:id 404'],
    ['get', '/v1/nothing/here', 'GET unknown 404'],
    ['get', '/mcp', 'GET /mcp 405'],
    ['post', '/mcp', 'POST /mcp 400', '{'],
    ['get', '/mcp/below', 'GET unknown 404'],
  ];
  const withoutKey: Send[] = [
    ['get', '/v1/checkout/sessions', 'GET /v1/checkout/sessions 401'],
    ['get', '/v1/checkout/sessions/cs_test_1/', 'GET /v1/checkout/sessions/:id 401'],
    ['get', '/v1/nothing', 'GET unknown 401'],
    ['post', '/v1/keys', 'POST /v1/keys 401'],
    ['post', '/mcp', 'POST /mcp 401'],
    ['get', '/c/cs_test_1', 'GET /c/:id 404'],
    ['head', '/c/cs_test_1', 'HEAD /c/:id 404'],
    ['put', '/c/cs_test_1', 'other /c/:id 405'],
    ['get', '/c/%zz', 'GET /c/:id 404'],
    ['get', '/c/cs_test_1/status', 'GET /c/:id/status 404'],
    ['post', '/c/cs_test_1/status', 'POST /c/:id/status 405'],
    ['get', '/c/cs_test_1/page', 'GET /c/:id/page 404'],
    ['get', '/c/cs_test_1/pay', 'GET /c/:id/pay 405'],
    ['post', '/c/cs_test_1/transaction', 'POST /c/:id/transaction 400', '{'],
    ['get', '/c/cs_test_1/balances', 'GET /c/:id/balances 400'],
    ['get', '/c/cs_test_1/images/i1', 'GET /c/:id/images/:name 404'],
    ['get', '/c/cs_test_1/nothing', 'GET unknown 404'],
    ['get', '/c', 'GET unknown 404'],
    ['get', '/assets/none.js', 'GET /assets/:name 404'],
    ['get', '/dashboard', 'GET /dashboard 200'],
    ['get', '/dashboard/below', 'GET unknown 404'],
    ['get', '/docs/errors', 'GET /docs/errors 200'],
    ['get', '/docs/assets/none.js', 'GET /docs/assets/:name 404'],
    ['get', '/healthz', 'GET /healthz 200'],
    ['post', '/healthz', 'POST /healthz 405'],
    ['get', '/openapi.json', 'GET /openapi.json 200'],
    ['get', '/', 'GET / 200'],
    ['post', '/', 'POST / 405'],
    ['get', '/metrics', 'GET /metrics 401'],
    ['get', '/admin', 'GET /admin/* 401'],
    ['get', '/admin/queues/api/queues', 'GET /admin/* 401'],
    ['put', '/admin/queues/api/queues/settle-payment/1/retry/failed', 'other /admin/* 401'],
    ['get', `/${'x'.repeat(500)}`, 'GET unknown 404'],
    ['get', '//c/cs_test_1', 'GET unknown 404'],
  ];
  for (const [who, requests] of [
    ['with a key', withKey],
    ['without a key', withoutKey],
  ] as const) {
    for (const [method, path, label, body] of requests) {
      it(`is ${label} for ${method.toUpperCase()} ${path.slice(0, 60)} ${who}`, async () => {
        const sent = labelOf((server) => {
          const test = request(server)[method](path);
          if (who === 'with a key') test.set('Authorization', `Bearer ${key}`);
          return body === undefined ? test : test.set('Content-Type', 'application/json').send(body);
        });
        assert.equal(await sent, label);
      });
    }
  }

  it('is the label of its route when the request is over the rate limit', async () => {
    const get = (path: string) => (server: TestApp['server']) =>
      request(server).get(path).set('Authorization', `Bearer ${key}`);
    await labelOf(get('/c/cs_test_1'), narrow);
    assert.equal(await labelOf(get('/c/cs_test_1'), narrow), 'GET /c/:id 429');
    assert.equal(await labelOf(get('/c/cs_test_1/page'), narrow), 'GET /c/:id/page 429');
    // The requests come all at once, because the limit is for a second.
    const labels = await labelsOf(async () => {
      await Promise.all(Array.from({ length: 20 }, async () => await get('/v1/payments')(narrow.server)));
    }, narrow);
    assert.deepEqual(labels.sort(), ['GET /v1/payments 200', 'GET /v1/payments 429']);
  });

  it('is that of the dashboard with the password', async () => {
    const open = (path: string) => (server: TestApp['server']) =>
      request(server).get(path).auth('admin', PASSWORD);
    assert.equal(await labelOf(open('/admin/queues')), 'GET /admin/* 200');
    assert.equal(await labelOf(open('/admin/queues/api/queues')), 'GET /admin/queues/api/queues 200');
    assert.equal(await labelOf(open('/admin/nothing')), 'GET /admin/* 404');
  });
});
