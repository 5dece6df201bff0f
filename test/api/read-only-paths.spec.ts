import assert from 'node:assert/strict';
import request from 'supertest';
import { openTestApp } from '../support/app.js';
import { forAllTests } from '../support/hooks.js';

const TOKEN = 'a token of the operator';
const PATHS = [
  '/',
  '/docs',
  '/docs/errors',
  '/llms.txt',
  '/openapi.json',
  '/dashboard',
  '/.well-known/jwks.json',
  '/.well-known/did.json',
  '/did.json',
  '/healthz',
  '/readyz',
  '/metrics',
];

describe('a path that is only read', () => {
  const app = forAllTests(() => openTestApp({ METRICS_TOKEN: TOKEN }));

  for (const path of PATHS)
    it(`${path} answers GET and HEAD, and another method with those that it answers`, async () => {
      const on = request(app.server);
      await on.get(path).auth(TOKEN, { type: 'bearer' }).expect(200);
      await on.head(path).auth(TOKEN, { type: 'bearer' }).expect(200);
      for (const method of ['post', 'put', 'delete', 'options'] as const) {
        const { status, headers, body } = await on[method](path);
        assert.deepEqual([status, headers.allow], [405, 'GET, HEAD']);
        assert.equal(body.error.code, 'method_not_allowed');
        assert.match(body.error.message, /^[A-Z]+ is not supported here\. Use GET, HEAD\.$/);
      }
    });

  it('does not exist for any method while the setting that it needs is missing', async () => {
    const bare = await openTestApp({ DASHBOARD: 'false' });
    try {
      for (const path of ['/metrics', '/dashboard'])
        assert.equal((await request(bare.server).post(path).expect(404)).body.error.code, 'unknown_path');
    } finally {
      await bare.close();
    }
  });
});
