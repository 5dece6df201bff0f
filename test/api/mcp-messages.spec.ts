import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import request from 'supertest';
import { eventually } from '../../lab/world/processes/eventually.js';
import { buildMerchant, buildRevokedKey } from '../../lab/world/shop/factories.js';
import { assertRefusal, assertUnauthenticated } from '../support/api-client.js';
import { openTestApp } from '../support/app.js';
import { forAllTests } from '../support/hooks.js';
import { callText, connectAgent, postMcp } from '../support/mcp.js';
import { minimal } from '../support/orders.js';

const LIST_TOOLS = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });

describe('/mcp', () => {
  const app = forAllTests(openTestApp);
  const shop = forAllTests(() => buildMerchant(app.db));

  describe('without a valid key answers 401 like /v1', () => {
    it('to a missing, wrong or revoked key, before any other error', async () => {
      const secret = await buildRevokedKey(app.db, shop.accountId, (key) =>
        postMcp(app, key, LIST_TOOLS).expect(200),
      );
      const call = callText('create_checkout_session', JSON.stringify(minimal));
      for (const body of [LIST_TOOLS, call, '[', '']) {
        assertUnauthenticated(await postMcp(app, undefined, body), 'api_key_missing');
        assertUnauthenticated(await postMcp(app, `${shop.testKey}x`, body), 'api_key_invalid');
        assertUnauthenticated(await postMcp(app, secret, body), 'api_key_revoked');
      }
      for (const method of ['get', 'delete', 'put', 'options'] as const) {
        assertUnauthenticated(await request(app.server)[method]('/mcp'), 'api_key_missing');
        assertUnauthenticated(await request(app.server)[method]('/mcp/x'), 'api_key_missing');
      }
    });

    it('so that the client of the SDK reports it', async () => {
      await assert.rejects(connectAgent(app.port, 'svc_ck_test_wrong'), /api_key_invalid/);
    });

    it('and accepts the key as Basic user name', async () => {
      await postMcp(app, undefined, LIST_TOOLS).auth(shop.testKey, '').expect(200);
    });
  });

  describe('answers requests that are not MCP messages', () => {
    const asRest = (status: number, code: string) => ({ status, code });
    const asRpc = (status: number, code: number) => ({ status, code });
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
    const deep = nested(15);
    const CASES: Record<
      string,
      {
        body: string | Buffer;
        headers?: Record<string, string>;
        answer: { status: number; code: number | string };
      }
    > = {
      'invalid JSON': { body: '{"jsonrpc":', answer: asRest(400, 'malformed_body') },
      'bytes that are not UTF-8': { body: Buffer.from([0xff, 0xfe]), answer: asRest(400, 'malformed_body') },
      'a batch': { body: `[${LIST_TOOLS},${LIST_TOOLS}]`, answer: asRest(400, 'malformed_body') },
      'a number': { body: '5', answer: asRest(400, 'malformed_body') },
      null: { body: 'null', answer: asRest(400, 'malformed_body') },
      'a form': {
        body: 'jsonrpc=2.0&id=1&method=ping',
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
        answer: asRest(400, 'unsupported_content_type'),
      },
      'plain text': {
        body: LIST_TOOLS,
        headers: { 'Content-Type': 'text/plain' },
        answer: asRest(400, 'unsupported_content_type'),
      },
      'another JSON type': {
        body: LIST_TOOLS,
        headers: { 'Content-Type': 'application/x+json' },
        answer: asRpc(415, -32_000),
      },
      'an unknown encoding': {
        body: LIST_TOOLS,
        headers: { 'Content-Encoding': 'zip' },
        answer: asRest(400, 'unsupported_content_encoding'),
      },
      'more than 2 MiB': {
        body: `{"x":"${'x'.repeat(2 * 1024 * 1024)}"}`,
        answer: asRest(400, 'body_too_large'),
      },
      'more than 20,000 values': {
        body: `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":[${'0,'.repeat(20_000)}0]}}`,
        answer: asRest(400, 'body_too_large'),
      },
      'a thousand values outside of arguments': {
        body: `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"a","version":"1","icons":[${'{},'.repeat(1000)}{}]}}}`,
        answer: asRest(400, 'body_too_large'),
      },
      compressed: {
        body: gzipSync(LIST_TOOLS),
        headers: { 'Content-Encoding': 'gzip' },
        answer: asRest(400, 'unsupported_content_encoding'),
      },
      nothing: { body: '', answer: asRpc(400, -32_700) },
      'an empty object': { body: '{}', answer: asRpc(400, -32_700) },
      'an older JSON-RPC': { body: '{"jsonrpc":"1.0","id":1,"method":"ping"}', answer: asRpc(400, -32_700) },
      'an invalid id': {
        body: '{"jsonrpc":"2.0","id":{},"method":"ping"}',
        answer: asRpc(400, -32_700),
      },
      'an infinite id': { body: '{"jsonrpc":"2.0","id":1e400,"method":"ping"}', answer: asRpc(400, -32_700) },
      'an invalid method': { body: '{"jsonrpc":"2.0","id":1,"method":5}', answer: asRpc(400, -32_700) },
      'deep nesting': {
        body: `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":${deep}}}`,
        answer: asRpc(200, 0),
      },
      'nesting beyond the limit': {
        body: `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":${nested(100_000)}}}`,
        answer: asRest(400, 'body_too_large'),
      },
      'deep nesting instead of a message': { body: deep, answer: asRest(400, 'malformed_body') },
      'an unknown method': {
        body: '{"jsonrpc":"2.0","id":1,"method":"resources/list"}',
        answer: asRpc(200, -32_601),
      },
      'a method named __proto__': {
        body: '{"jsonrpc":"2.0","id":1,"method":"__proto__"}',
        answer: asRpc(200, -32_601),
      },
      'a call without a tool': {
        body: '{"jsonrpc":"2.0","id":1,"method":"tools/call"}',
        answer: asRpc(200, -32_602),
      },
      'a call with null for parameters': {
        body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":null}',
        answer: asRpc(200, -32_602),
      },
      'a call of a number': {
        body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":5}}',
        answer: asRpc(200, -32_602),
      },
      'null for arguments': { body: callText('list_payments', 'null'), answer: asRpc(200, 0) },
      'an unknown tool': { body: callText('pay', '{}'), answer: asRpc(200, -32_602) },
      'a tool named constructor': { body: callText('constructor', '{}'), answer: asRpc(200, -32_602) },
      'a list of arguments': { body: callText('list_payments', '[]'), answer: asRpc(200, -32_602) },
      'a text of arguments': { body: callText('list_payments', '"limit"'), answer: asRpc(200, -32_602) },
      'a call as a task': {
        body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_payments","task":{}}}',
        answer: asRpc(200, -32_603),
      },
      'an unknown version': {
        body: LIST_TOOLS,
        headers: { 'MCP-Protocol-Version': '1999-01-01' },
        answer: asRpc(400, -32_000),
      },
      'an Accept header of curl': { body: LIST_TOOLS, headers: { Accept: '*/*' }, answer: asRpc(200, 0) },
      'an Accept header of JSON alone': {
        body: LIST_TOOLS,
        headers: { Accept: 'application/json;q=0.9' },
        answer: asRpc(200, 0),
      },
      'an empty Accept header': { body: LIST_TOOLS, headers: { Accept: '' }, answer: asRpc(200, 0) },
      'an Accept header that excludes JSON': {
        body: LIST_TOOLS,
        headers: { Accept: '*/*, application/json;q=0' },
        answer: asRpc(406, -32_000),
      },
      'an Accept header without JSON': {
        body: LIST_TOOLS,
        headers: { Accept: 'text/event-stream' },
        answer: asRpc(406, -32_000),
      },
      'an Accept header of a browser': {
        body: LIST_TOOLS,
        headers: { Accept: 'text/html' },
        answer: asRpc(406, -32_000),
      },
    };
    for (const [what, { body, headers = {}, answer }] of Object.entries(CASES)) {
      it(`${what}: ${answer.status} ${answer.code || 'fine'}`, async () => {
        const res = await postMcp(app, shop.testKey, body).set(headers);
        assert.equal(res.status, answer.status, res.text);
        if (typeof answer.code === 'string') {
          assertRefusal(res, answer.status, answer.code);
        } else {
          assert.equal(res.body.jsonrpc, '2.0');
          assert.equal(res.body.error?.code ?? 0, answer.code, res.text);
          assert.doesNotMatch(res.text, /\bat \S+:\d+|node_modules/);
        }
        assert.equal(res.get('Content-Type'), 'application/json; charset=utf-8');
        assert.equal(res.get('Cache-Control'), 'no-store');
        assert.match(res.get('Request-Id') ?? '', /^req_/);
      });
    }

    it('a call whose parameters have the wrong type with a sentence that says which', async () => {
      for (const [body, sentence] of [
        ['{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}', /params\.name must be a string/],
        [callText('list_payments', '[]'), /params\.arguments must be an object/],
      ] as const)
        assert.match((await postMcp(app, shop.testKey, body)).body.error.message, sentence);
    });

    it('a call with deeply nested arguments like /v1', async () => {
      for (const args of [
        `{"metadata":${deep}}`,
        `{"line_items":${deep}}`,
        `{"x":${deep}}`,
        `{"idempotency_key":${deep}}`,
      ]) {
        const { status, body } = await postMcp(app, shop.testKey, callText('create_checkout_session', args));
        assert.equal(status, 200);
        assert.equal(body.result.isError, true);
        assert.match(body.result.structuredContent.error.code, /^parameter_/);
      }
      const { body } = await postMcp(app, shop.testKey, callText('list_payments', `{"limit":${deep}}`));
      assert.equal(body.result.structuredContent.error.code, 'parameter_invalid_integer');
      const byId = await postMcp(app, shop.testKey, callText('retrieve_webhook_endpoint', `{"id":${deep}}`));
      assert.equal(byId.body.result.structuredContent.error.code, 'parameter_invalid');
    });

    it('a notification or a response with an empty 202', async () => {
      for (const body of [
        '{"jsonrpc":"2.0","method":"notifications/initialized"}',
        '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}',
        '{"jsonrpc":"2.0","method":"tools/call","params":{"name":"create_checkout_session"}}',
        '{"jsonrpc":"2.0","id":1,"result":{}}',
      ]) {
        const res = await postMcp(app, shop.testKey, body).expect(202);
        assert.equal(res.text, '');
      }
    });

    it('another method with 405, another path with 404', async () => {
      for (const method of ['get', 'delete', 'put', 'patch', 'options'] as const) {
        const res = await request(app.server)
          [method]('/mcp')
          .set({ Authorization: `Bearer ${shop.testKey}`, Accept: 'text/event-stream' });
        assertRefusal(res, 405, 'method_not_allowed');
        assert.equal(res.get('Allow'), 'POST');
      }
      const res = await request(app.server)
        .post('/mcp/sessions')
        .set({ Authorization: `Bearer ${shop.testKey}` });
      assertRefusal(res, 404, 'unknown_path');
    });

    it('and counts them by path and status, whatever the result of a tool', async () => {
      const count = async (status: number): Promise<number> => {
        const series = `checkout_http_request_seconds_count{method="POST",route="/mcp",status="${status}"} `;
        const line = (await app.metrics.read()).split('\n').find((one) => one.startsWith(series));
        return Number(line?.slice(series.length) ?? 0);
      };
      const before = [await count(200), await count(400), await count(401)];
      await postMcp(app, shop.testKey, callText('list_payments', '{"limit":0}')).expect(200);
      await postMcp(app, shop.testKey, '{').expect(400);
      await postMcp(app, undefined, LIST_TOOLS).expect(401);
      await eventually(async () => {
        const grown = [await count(200), await count(400), await count(401)];
        assert.deepEqual(
          grown.map((value, i) => value - (before[i] ?? 0)),
          [1, 1, 1],
        );
      });
    });

    it('without CORS headers, like /v1', async () => {
      const res = await postMcp(app, shop.testKey, LIST_TOOLS)
        .set('Origin', 'https://evil.example')
        .expect(200);
      assert.deepEqual(
        Object.keys(res.headers).filter((name) => name.startsWith('access-control-')),
        [],
      );
      assert.match(res.get('Content-Security-Policy') ?? '', /default-src/);
    });
  });
});
