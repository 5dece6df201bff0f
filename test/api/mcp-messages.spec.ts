import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import request from 'supertest';
import { eventually } from '../../lab/world/processes/eventually.js';
import { buildMerchant, buildRevokedKey } from '../../lab/world/shop/factories.js';
import { assertRefusal, assertUnauthenticated } from '../support/api-client.js';
import { openTestApp } from '../support/app.js';
import { forAllTests } from '../support/hooks.js';
import { FORM_TYPE } from '../support/hostile-input/order.js';
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
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
    const deep = nested(15);
    /** A request as text, whose parameters may be JSON that no client would produce. */
    const rpc = (method: string, params?: string): string =>
      `{"jsonrpc":"2.0","id":1,"method":${JSON.stringify(method)}${params === undefined ? '' : `,"params":${params}`}}`;
    const client = `"protocolVersion":"2025-06-18","capabilities":{}`;
    const icons = `"clientInfo":{"name":"a","version":"1","icons":[${'{},'.repeat(1000)}{}]}`;
    /** A code in words is that of the Error object, with status 400. A number is JSON-RPC's, 0 of a result. */
    type Answer = string | [status: number, code: number];
    const NO_MESSAGE: Answer = [400, -32_700];
    const FINE: Answer = [200, 0];
    const BAD_PARAMS: Answer = [200, -32_602];
    const CASES: Record<string, [body: string | Buffer, answer: Answer, headers?: Record<string, string>]> = {
      'invalid JSON': ['{"jsonrpc":', 'malformed_body'],
      'bytes that are not UTF-8': [Buffer.from([0xff, 0xfe]), 'malformed_body'],
      'a batch': [`[${LIST_TOOLS},${LIST_TOOLS}]`, 'malformed_body'],
      'a number': ['5', 'malformed_body'],
      null: ['null', 'malformed_body'],
      'a form': ['jsonrpc=2.0&id=1&method=ping', 'unsupported_content_type', FORM_TYPE],
      'plain text': [LIST_TOOLS, 'unsupported_content_type', { 'Content-Type': 'text/plain' }],
      'another JSON type': [LIST_TOOLS, [415, -32_000], { 'Content-Type': 'application/x+json' }],
      'an unknown encoding': [LIST_TOOLS, 'unsupported_content_encoding', { 'Content-Encoding': 'zip' }],
      'more than 2 MiB': [`{"x":"${'x'.repeat(2 * 1024 * 1024)}"}`, 'body_too_large'],
      'more than 20,000 values': [rpc('ping', `{"x":[${'0,'.repeat(20_000)}0]}`), 'body_too_large'],
      'a thousand values outside of arguments': [rpc('initialize', `{${client},${icons}}`), 'body_too_large'],
      compressed: [gzipSync(LIST_TOOLS), 'unsupported_content_encoding', { 'Content-Encoding': 'gzip' }],
      nothing: ['', NO_MESSAGE],
      'an empty object': ['{}', NO_MESSAGE],
      'an older JSON-RPC': [rpc('ping').replace('2.0', '1.0'), NO_MESSAGE],
      'an invalid id': [rpc('ping').replace('1,', '{},'), NO_MESSAGE],
      'an infinite id': [rpc('ping').replace('1,', '1e400,'), NO_MESSAGE],
      'an invalid method': ['{"jsonrpc":"2.0","id":1,"method":5}', NO_MESSAGE],
      'deep nesting': [rpc('ping', `{"a":${deep}}`), FINE],
      'nesting beyond the limit': [rpc('ping', `{"a":${nested(100_000)}}`), 'body_too_large'],
      'deep nesting instead of a message': [deep, 'malformed_body'],
      'an unknown method': [rpc('resources/list'), [200, -32_601]],
      'a method named __proto__': [rpc('__proto__'), [200, -32_601]],
      'a call without a tool': [rpc('tools/call'), BAD_PARAMS],
      'a call with null for parameters': [rpc('tools/call', 'null'), BAD_PARAMS],
      'a call of a number': [rpc('tools/call', '{"name":5}'), BAD_PARAMS],
      'null for arguments': [callText('list_payments', 'null'), FINE],
      'an unknown tool': [callText('pay', '{}'), BAD_PARAMS],
      'a tool named constructor': [callText('constructor', '{}'), BAD_PARAMS],
      'a list of arguments': [callText('list_payments', '[]'), BAD_PARAMS],
      'a text of arguments': [callText('list_payments', '"limit"'), BAD_PARAMS],
      'a call as a task': [rpc('tools/call', '{"name":"list_payments","task":{}}'), [200, -32_603]],
      'an unknown version': [LIST_TOOLS, [400, -32_000], { 'MCP-Protocol-Version': '1999-01-01' }],
      'an Accept header of curl': [LIST_TOOLS, FINE, { Accept: '*/*' }],
      'an Accept header of JSON alone': [LIST_TOOLS, FINE, { Accept: 'application/json;q=0.9' }],
      'an empty Accept header': [LIST_TOOLS, FINE, { Accept: '' }],
      'an Accept header that excludes JSON': [
        LIST_TOOLS,
        [406, -32_000],
        { Accept: '*/*, application/json;q=0' },
      ],
      'an Accept header without JSON': [LIST_TOOLS, [406, -32_000], { Accept: 'text/event-stream' }],
      'an Accept header of a browser': [LIST_TOOLS, [406, -32_000], { Accept: 'text/html' }],
    };
    for (const [what, [body, answer, headers = {}]] of Object.entries(CASES)) {
      it(`${what}: ${answer}`, async () => {
        const res = await postMcp(app, shop.testKey, body).set(headers);
        if (typeof answer === 'string') assertRefusal(res, 400, answer);
        else {
          assert.deepEqual([res.status, res.body.error?.code ?? 0], answer, res.text);
          assert.equal(res.body.jsonrpc, '2.0');
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
