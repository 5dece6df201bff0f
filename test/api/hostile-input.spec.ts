import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, type IncomingHttpHeaders, request, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { createApp } from '../../api/app.js';
import { createHttpServer } from '../../api/http-server.js';
import { closeDeps, openDeps } from '../../api/open-deps.js';
import { loadConfig } from '../../shared/config.js';
import type { Knex } from '../../shared/db/knex.js';
import { createLogger } from '../../shared/logger.js';
import { CheckoutSession } from '../../shared/models/checkout-session.js';
import { Event } from '../../shared/models/event.js';
import { formText, schemaValidator } from '../support/api-client.js';
import { eventually } from '../support/eventually.js';
import { buildMerchant, buildSession, type Merchant } from '../support/factories.js';
import { testServices } from '../support/suite.js';

const SESSIONS = '/v1/checkout/sessions';
const ENDPOINTS = '/v1/webhook_endpoints';
const PAYMENTS = '/v1/payments';
const KEYS = '/v1/keys';
const MAX_BODY_BYTES = 4 * 1024 * 1024;
const JSON_TYPE = { 'Content-Type': 'application/json' };
const FORM_TYPE = { 'Content-Type': 'application/x-www-form-urlencoded' };
const HOOK_URL = 'https://shop.example/hooks';
/** In everything personal or secret that these requests carry: no log line may hold it. */
const MARK = 'never-in-a-log';

const coffee = { price_data: { unit_amount: 450, product_data: { name: `Coffee ${MARK}` } } };
const minimal = { line_items: [coffee], customer_email: `${MARK}@mail.example` };
const COFFEE_FORM = formText({ line_items: [coffee] });
const JSON_ITEMS = JSON.stringify(minimal.line_items);

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}
interface Sent {
  method?: string;
  path?: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
  key?: string | undefined;
}

describe('hostile input', () => {
  let server: Server;
  let port: number;
  let db: Knex;
  let shop: Merchant;
  let close: () => Promise<void>;
  const logged: string[] = [];
  const agent = new Agent({ keepAlive: true, maxSockets: 20 });

  before(async () => {
    const { databaseUrl, redisUrl } = testServices();
    const config = loadConfig(
      {
        DATABASE_URL: databaseUrl,
        REDIS_URL: redisUrl,
        FACILITATOR_URL: 'http://127.0.0.1:1',
        BASE_URL: 'https://pay.example',
        RATE_LIMIT_API_PER_SECOND: '1000000',
        RATE_LIMIT_LINK_PER_MINUTE: '1000000',
        WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true',
        LOG_LEVEL: 'trace',
      },
      'web',
    );
    const log = new Writable({
      write(chunk: Buffer, _encoding, done) {
        logged.push(chunk.toString('utf8'));
        done();
      },
    });
    const logger = createLogger(config.logLevel, 'test', log);
    const deps = openDeps(config, logger);
    db = deps.db;
    shop = await buildMerchant(db);
    server = createHttpServer(createApp(deps));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
    close = async () => {
      agent.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      deps.settlements.close();
      await closeDeps(deps);
    };
  });
  after(() => close());
  afterEach(() => {
    assert.equal(Reflect.get({}, 'polluted'), undefined);
    const text = logged.splice(0).join('');
    for (const secret of [MARK, shop.testKey, shop.liveKey, 'whsec_']) {
      assert.ok(!text.includes(secret), `a log line holds ${secret}:\n${lineWith(text, secret)}`);
    }
  });

  const lineWith = (text: string, part: string): string =>
    text.split('\n').find((line) => line.includes(part)) ?? '';

  /** Bytes as they are given: node:http neither parses nor mends what it sends. */
  async function send({
    method = 'GET',
    path = SESSIONS,
    headers = {},
    body,
    ...rest
  }: Sent): Promise<Answer> {
    const key = 'key' in rest ? rest.key : shop.testKey;
    const outgoing = request({
      host: '127.0.0.1',
      port,
      method,
      path,
      agent,
      headers: {
        ...(key !== undefined && { Authorization: `Bearer ${key}` }),
        ...(body !== undefined && { 'Content-Length': String(Buffer.byteLength(body)) }),
        ...headers,
      },
    });
    const answered = once(outgoing, 'response');
    // A server that has answered may stop reading what is still being sent.
    outgoing.on('error', () => {});
    outgoing.end(body);
    const [answer] = await answered;
    return {
      status: answer.statusCode,
      headers: answer.headers,
      text: (await buffer(answer)).toString('utf8'),
    };
  }

  const post = (
    body: string | Buffer,
    headers: Record<string, string> = JSON_TYPE,
    path = SESSIONS,
  ): Promise<Answer> => send({ method: 'POST', path, headers, body });
  const json = (body: object, path = SESSIONS): Promise<Answer> =>
    post(JSON.stringify(body), JSON_TYPE, path);
  const form = (body: string, path = SESSIONS): Promise<Answer> => post(body, FORM_TYPE, path);

  /**
   * What the raw bytes bring forth until the server closes the connection. `end` closes our side at once, which
   * node takes for the end of a request that it has not answered yet.
   */
  async function exchange(bytes: string | Buffer, { end = false } = {}): Promise<string> {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    socket.on('error', () => {});
    if (end) socket.end(bytes);
    else socket.write(bytes);
    const answer = (await buffer(socket)).toString('utf8');
    socket.destroy();
    return answer;
  }

  const head = (line: string, ...headers: string[]): string =>
    [`${line} HTTP/1.1`, 'Host: localhost', `Authorization: Bearer ${shop.testKey}`, ...headers, '', ''].join(
      '\r\n',
    );

  const TYPES: Record<number, string> = { 401: 'authentication_error', 500: 'api_error' };
  const fitsError = schemaValidator('#/components/schemas/Error');

  function assertErrorShape({ status, headers, text }: Answer): { code: string; param?: string } {
    assert.equal(headers['content-type'], 'application/json; charset=utf-8', text);
    assert.match(String(headers['request-id']), /^req_[A-Za-z0-9]+$/);
    const body = JSON.parse(text);
    const fits: boolean = fitsError(body);
    assert.ok(fits, text);
    const { type, code, message, request_id: requestId } = body.error;
    assert.equal(requestId, headers['request-id']);
    const expected = code.startsWith('idempotency_') ? 'idempotency_error' : TYPES[status];
    assert.equal(type, expected ?? 'invalid_request_error');
    assert.match(message, /^\S+\s.*[.!]$/s, `"${message}" is no sentence`);
    assert.ok(message.length < 1000);
    for (const secret of [shop.testKey, shop.liveKey]) assert.ok(!text.includes(secret));
    if (status === 401) assert.match(headers['www-authenticate'] ?? '', /^Bearer realm=/);
    return body.error;
  }

  function assertError(answer: Answer, status: number, code: string, param?: string): void {
    assert.equal(answer.status, status, answer.text);
    const error = assertErrorShape(answer);
    assert.deepEqual([error.code, error.param], [code, param], answer.text);
  }

  const assertInvalid = (answer: Answer, code: string, param?: string): void =>
    assertError(answer, 400, code, param);

  function assertFine(answer: Answer): { id: string; [field: string]: unknown } {
    assert.equal(answer.status, 200, answer.text);
    assert.match(String(answer.headers['request-id']), /^req_/);
    return JSON.parse(answer.text);
  }

  const withoutIds = (text: string): string =>
    text
      .replaceAll(/\b(cs_test|li|we)_[A-Za-z0-9]{28}\b/g, '$1_…')
      .replaceAll(/"(created|expires_at)":\d+/g, '"$1"');

  async function sessionCount(): Promise<number> {
    return await CheckoutSession.query(db).where({ accountId: shop.accountId }).resultSize();
  }

  describe('as a body', () => {
    const padded = (bytes: number): string => {
      const text = JSON.stringify(minimal);
      return text + ' '.repeat(bytes - text.length);
    };
    const encoders = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync };

    for (const [encoding, encode] of Object.entries(encoders)) {
      const headers = { ...JSON_TYPE, 'Content-Encoding': encoding };

      it(`that ${encoding} makes 4 MiB of is taken, and one byte more refused`, async () => {
        assertFine(await post(encode(padded(MAX_BODY_BYTES)), headers));
        assertInvalid(await post(encode(padded(MAX_BODY_BYTES + 1)), headers), 'body_too_large');
      });

      it(`that is a ${encoding} bomb is refused`, async () => {
        const bomb = encode(Buffer.alloc(64 * 1024 * 1024));
        assert.ok(bomb.length < MAX_BODY_BYTES);
        assertInvalid(await post(bomb, headers), 'body_too_large');
      });

      it(`that is broken ${encoding} is refused, in a sentence that says what to change`, async () => {
        const whole = encode(JSON.stringify(minimal));
        const broken = [Buffer.from('nothing like it'), whole.subarray(0, whole.length - 3), Buffer.alloc(9)];
        for (const bytes of broken) {
          const answer = await post(bytes, headers);
          assertInvalid(answer, 'malformed_body');
          assert.match(JSON.parse(answer.text).error.message, /compress|gzip|deflate|Content-Encoding/i);
        }
      });
    }

    it('in an encoding that we do not know is refused', async () => {
      for (const encoding of ['zstd', 'compress', 'gzip, gzip', 'gzip;q=1', 'utf-8', 'x'.repeat(1000)]) {
        const answer = await post('{}', { ...JSON_TYPE, 'Content-Encoding': encoding });
        assertInvalid(answer, 'unsupported_content_type');
      }
    });

    it('in an encoding of any case, or in none, is taken', async () => {
      const text = JSON.stringify(minimal);
      assertFine(await post(gzipSync(text), { ...JSON_TYPE, 'Content-Encoding': 'GZip' }));
      assertFine(await post(text, { ...JSON_TYPE, 'Content-Encoding': 'identity' }));
      assertFine(await post(text, { ...JSON_TYPE, 'Content-Encoding': 'IDENTITY' }));
    });

    it('in chunks is taken up to 4 MiB, and refused from there on', async () => {
      assertFine(await sendInChunks(padded(MAX_BODY_BYTES), 64 * 1024));
      assertInvalid(await sendInChunks(padded(MAX_BODY_BYTES + 1), 64 * 1024), 'body_too_large');
      assertFine(await sendInChunks(JSON.stringify(minimal), 1));
    });

    async function sendInChunks(text: string, size: number): Promise<Answer> {
      const outgoing = request({
        host: '127.0.0.1',
        port,
        agent,
        method: 'POST',
        path: SESSIONS,
        headers: { ...JSON_TYPE, Authorization: `Bearer ${shop.testKey}`, 'Transfer-Encoding': 'chunked' },
      });
      const answered = once(outgoing, 'response');
      outgoing.on('error', () => {});
      for (let at = 0; at < text.length; at += size) outgoing.write(text.slice(at, at + size));
      outgoing.end();
      const [answer] = await answered;
      return {
        status: answer.statusCode,
        headers: answer.headers,
        text: (await buffer(answer)).toString('utf8'),
      };
    }

    it('that is announced as too large is refused before it is sent', async () => {
      const answer = await exchange(
        head(
          `POST ${SESSIONS}`,
          'Content-Type: application/json',
          'Content-Length: 5000000000',
          'Connection: close',
        ),
      );
      assert.match(answer, /^HTTP\/1\.1 400 .*"code":"body_too_large"/s);
    });

    it('that is longer than announced ends the connection, and makes nothing of its rest', async () => {
      const before = await sessionCount();
      const text = JSON.stringify(minimal);
      const answer = await exchange(
        head(`POST ${SESSIONS}`, 'Content-Type: application/json', 'Content-Length: 10') + text,
      );
      assert.match(answer, /HTTP\/1\.1 400 Bad Request\r\n/);
      assert.ok(!answer.includes('200 OK'));
      assert.equal(await sessionCount(), before);
    });

    const unclear: [why: string, headers: string[], body: string][] = [
      ['two lengths', ['Content-Length: 2', 'Content-Length: 3'], '{} '],
      ['a length and chunks', ['Content-Length: 2', 'Transfer-Encoding: chunked'], '0\r\n\r\n'],
      ['a negative length', ['Content-Length: -1'], ''],
      ['a length in hex', ['Content-Length: 0x2'], '{}'],
      ['chunks of no size', ['Transfer-Encoding: chunked'], 'zz\r\n{}\r\n0\r\n\r\n'],
      ['chunks that end early', ['Transfer-Encoding: chunked'], 'ff\r\n{}'],
      ['a transfer coding that hides chunks', ['Transfer-Encoding: chunked, identity'], '0\r\n\r\n'],
    ];
    for (const [why, headers, body] of unclear) {
      it(`with ${why} is no request at all: 400 and the connection ends`, async () => {
        const before = await sessionCount();
        const request = head(`POST ${SESSIONS}`, 'Content-Type: application/json', ...headers) + body;
        const answer = await exchange(request, { end: true });
        assert.match(answer, /^(HTTP\/1\.1 400 Bad Request\r\n.*)?$/s);
        assert.ok(!answer.includes('200 OK'));
        assert.equal(await sessionCount(), before);
        assertFine(await json(minimal));
      });
    }

    it('that is never finished makes nothing, and is no error of ours', async () => {
      const before = await sessionCount();
      const whole = head(
        `POST ${SESSIONS}`,
        'Content-Type: application/json',
        `Content-Length: ${JSON.stringify(minimal).length}`,
      );
      const cuts: ((socket: Socket) => void)[] = [
        (socket) => socket.destroy(),
        (socket) => socket.resetAndDestroy(),
      ];
      for (const cut of cuts) {
        logged.length = 0;
        const socket = connect(port, '127.0.0.1');
        await once(socket, 'connect');
        socket.write(whole + JSON.stringify(minimal).slice(0, 20));
        const [req] = await once(server, 'request');
        await once(req, 'readable');
        cut(socket);
        await eventually(() => assert.match(logged.join(''), /"aborted":true/));
        assert.doesNotMatch(logged.join(''), /"level":"(error|fatal)"/);
      }
      assert.equal(await sessionCount(), before);
    });

    it('is not read for a request without a key', async () => {
      const answer = await exchange(
        `POST ${SESSIONS} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\nConnection: close\r\n\r\n`,
      );
      assert.match(answer, /^HTTP\/1\.1 401 .*"code":"api_key_missing"/s);
    });

    it('is ignored where there should be none', async () => {
      const { id } = await buildSession(db, shop.accountId);
      for (const [method, path] of [
        ['GET', `${SESSIONS}/${id}`],
        ['GET', SESSIONS],
        ['GET', PAYMENTS],
      ] as const) {
        assertFine(await send({ method, path, headers: JSON_TYPE, body: '{"broken' }));
      }
    });
  });

  describe('as a content type', () => {
    const text = JSON.stringify(minimal);
    for (const type of [
      'text/plain',
      'multipart/form-data; boundary=x',
      'application/xml',
      'application/json, application/json',
      'application/jsonp',
      'application/x-json',
      'application/json/',
      'json',
      ';',
      'text/json',
      'application/x-www-form-urlencoded2',
      'application/\u00e9+json',
      'x'.repeat(5000),
    ]) {
      it(`${type.slice(0, 40)} is refused`, async () => {
        assertInvalid(await post(text, { 'Content-Type': type }), 'unsupported_content_type');
        assertInvalid(await post(COFFEE_FORM, { 'Content-Type': type }), 'unsupported_content_type');
      });
    }

    it('that is missing or empty is refused, unless there is no body', async () => {
      assertInvalid(await post(text, {}), 'unsupported_content_type');
      assertInvalid(await post(text, { 'Content-Type': '' }), 'unsupported_content_type');
      for (const headers of [{}, { 'Content-Type': 'text/plain' }, { 'Content-Type': 'image/png' }]) {
        assertInvalid(await post('', headers), 'parameter_missing', 'line_items');
      }
    });

    for (const type of [
      'APPLICATION/JSON',
      'application/json; charset=utf-8',
      'application/json;charset="UTF-8"',
      'application/json ; charset=utf8; q=1',
      'application/vnd.api+json',
      'application/merge-patch+json; charset=utf-8',
    ]) {
      it(`${type} is JSON`, async () => {
        assertFine(await post(text, { 'Content-Type': type }));
      });
    }

    for (const type of [
      'Application/X-WWW-Form-Urlencoded',
      'application/x-www-form-urlencoded; charset=UTF-8',
      'application/x-www-form-urlencoded;',
    ]) {
      it(`${type} is a form`, async () => {
        assertFine(await post(COFFEE_FORM, { 'Content-Type': type }));
      });
    }

    it('does not make other bytes than UTF-8 readable', async () => {
      const umlaut = text.replace('Coffee', 'Käffee');
      for (const charset of ['utf-16', 'utf-16le', 'iso-8859-1', 'utf-8']) {
        const headers = { 'Content-Type': `application/json;charset=${charset}` };
        for (const encoding of ['utf16le', 'latin1'] as const) {
          assertInvalid(await post(Buffer.from(umlaut, encoding), headers), 'malformed_body');
        }
      }
      const formBytes = Buffer.from(`${COFFEE_FORM}&client_reference_id=ä`, 'latin1');
      assertInvalid(await post(formBytes, FORM_TYPE), 'malformed_body');
    });

    it('that says form when it is JSON, or JSON when it is a form', async () => {
      assertInvalid(await post(COFFEE_FORM), 'malformed_body');
      assertInvalid(await form(text), 'parameter_missing', 'line_items');
    });
  });

  describe('as JSON', () => {
    for (const text of [
      'null',
      '"text"',
      '1',
      'true',
      '[]',
      `[${JSON.stringify(minimal)}]`,
      '{',
      '{}{}',
      "{'line_items': []}",
      '{"line_items": [],}',
      '{"line_items": NaN}',
      '{"line_items": [Infinity]}',
      '{"line_items": undefined}',
      '{"line_items": 01}',
      '{"line_items": +1}',
      '{"line_items": 0x10}',
      '{"line_items": .5}',
      '{"line_items": "\u0001"}',
      '// comment\n{}',
      '\0{}',
    ]) {
      it(`${JSON.stringify(text).slice(0, 50)} is malformed`, async () => {
        assertInvalid(await post(text), 'malformed_body');
      });
    }

    it('100,000 levels deep is named where it stands', async () => {
      const nest = (open: string, end: string): string => open.repeat(100_000) + end.repeat(100_000);
      const arrays = nest('[', ']');
      const objects = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`;
      for (const deep of [arrays, objects]) {
        const items = `"line_items":${JSON_ITEMS}`;
        assertInvalid(await post(`{${items},"metadata":{"a":${deep}}}`), 'parameter_invalid', 'metadata[a]');
        assertInvalid(await post(`{${items},"nothing":${deep}}`), 'parameter_unknown', 'nothing');
        assertInvalid(await post(`{${items},"mode":${deep}}`), 'parameter_invalid', 'mode');
        assertInvalid(
          await post(`{${items},"expires_at":${deep}}`),
          'parameter_invalid_integer',
          'expires_at',
        );
      }
      assertInvalid(await post(`{"line_items":${arrays}}`), 'parameter_invalid', 'line_items[0]');
      assertInvalid(await post(`{"line_items":${objects}}`), 'parameter_invalid', 'line_items');
      assertInvalid(await post(arrays), 'malformed_body');
      assertInvalid(
        await post(`{"url":"${HOOK_URL}","enabled_events":${arrays}}`, JSON_TYPE, ENDPOINTS),
        'parameter_invalid_enum',
        'enabled_events[0]',
      );
    });

    it('with keys sent twice takes the last, as JSON.parse does', async () => {
      const session = assertFine(
        await post(`{"line_items":[],"mode":"x","line_items":${JSON_ITEMS},"mode":"payment"}`),
      );
      assert.equal(session.amount_total, 450);
    });

    it('with 200,000 elements where few are expected', async () => {
      const many = (value: unknown): unknown[] => Array.from({ length: 200_000 }, () => value);
      assertInvalid(await json({ line_items: many(1) }), 'parameter_invalid', 'line_items');
      assertInvalid(await json({ ...minimal, expand: many('x') }), 'parameter_invalid_enum', 'expand[0]');
      const events = { url: HOOK_URL, enabled_events: many('*') };
      assert.deepEqual(assertFine(await json(events, ENDPOINTS)).enabled_events, ['*']);
    });

    const wrongTypes: [path: string, body: object, code: string, param: string][] = [
      [SESSIONS, { line_items: {} }, 'parameter_invalid', 'line_items'],
      [SESSIONS, { line_items: { 0: coffee } }, 'parameter_invalid', 'line_items'],
      [SESSIONS, { line_items: 'x' }, 'parameter_invalid', 'line_items'],
      [SESSIONS, { line_items: [[coffee]] }, 'parameter_invalid', 'line_items[0]'],
      [SESSIONS, { line_items: [coffee, null] }, 'parameter_invalid_empty', 'line_items[1]'],
      [SESSIONS, { line_items: [{ price_data: [] }] }, 'parameter_invalid', 'line_items[0][price_data]'],
      [SESSIONS, { ...minimal, metadata: [] }, 'parameter_invalid', 'metadata'],
      [SESSIONS, { ...minimal, metadata: ['x'] }, 'parameter_invalid', 'metadata'],
      [SESSIONS, { ...minimal, metadata: 'x' }, 'parameter_invalid', 'metadata'],
      [SESSIONS, { ...minimal, metadata: { a: 1 } }, 'parameter_invalid', 'metadata[a]'],
      [SESSIONS, { ...minimal, metadata: { a: ['x'] } }, 'parameter_invalid', 'metadata[a]'],
      [SESSIONS, { ...minimal, metadata: { a: {} } }, 'parameter_invalid', 'metadata[a]'],
      [SESSIONS, { ...minimal, customer_email: ['a@b.example'] }, 'parameter_invalid', 'customer_email'],
      [ENDPOINTS, { url: [HOOK_URL] }, 'parameter_invalid', 'url'],
      [ENDPOINTS, { url: { href: HOOK_URL } }, 'parameter_invalid', 'url'],
      [ENDPOINTS, { url: HOOK_URL, enabled_events: '*' }, 'parameter_invalid', 'enabled_events'],
      [ENDPOINTS, { url: HOOK_URL, enabled_events: {} }, 'parameter_invalid', 'enabled_events'],
      [
        ENDPOINTS,
        { url: HOOK_URL, enabled_events: ['*', null] },
        'parameter_invalid_empty',
        'enabled_events[1]',
      ],
      [ENDPOINTS, { url: HOOK_URL, enabled_events: [['*']] }, 'parameter_invalid_enum', 'enabled_events[0]'],
      [
        ENDPOINTS,
        { url: HOOK_URL, enabled_events: ['charge.paid'] },
        'parameter_invalid_enum',
        'enabled_events[0]',
      ],
      [ENDPOINTS, { url: HOOK_URL, description: 1 }, 'parameter_invalid', 'description'],
    ];
    for (const [path, body, code, param] of wrongTypes) {
      it(`${JSON.stringify(body).replaceAll(MARK, '').slice(0, 90)} is ${code} on ${param}`, async () => {
        assertInvalid(await json(body, path), code, param);
      });
    }
  });

  describe('as a form', () => {
    it('may be the largest legal create there is, and means what the same JSON means', async () => {
      const images = Array.from({ length: 8 }, (_, i) => `https://img.example/${i}/`.padEnd(2048, 'i'));
      const item = {
        price_data: {
          currency: 'usd',
          unit_amount: 99_999_999,
          product_data: { name: 'n'.repeat(250), description: 'd'.repeat(500), images },
        },
        quantity: 2,
      };
      const body = {
        mode: 'payment',
        line_items: Array.from({ length: 100 }, () => item),
        success_url: 'https://shop.example/'.padEnd(5000, 's'),
        cancel_url: 'https://shop.example/'.padEnd(5000, 'c'),
        client_reference_id: 'r'.repeat(200),
        customer_email: `${'e'.repeat(64)}@${'m'.repeat(60)}.example`,
        metadata: Object.fromEntries(
          Array.from({ length: 50 }, (_, i) => [`${i}`.padStart(40, 'k'), 'v'.repeat(500)]),
        ),
        payment_method_types: ['crypto'],
        expand: ['line_items'],
      };
      const text = formText(body);
      assert.ok(text.split('&').length > 1300);
      const [asForm, asJson] = [await form(text), await json(body)];
      assert.equal(assertFine(asForm).amount_total, 100 * 2 * 99_999_999);
      assert.equal(withoutIds(asForm.text), withoutIds(asJson.text));
      const { id } = assertFine(asForm);
      const again = await send({ path: `${SESSIONS}/${id}?expand[]=line_items` });
      assert.equal(again.text, asForm.text);
    });

    const item = (name: string): string =>
      `${name}[price_data][unit_amount]=1&${name}[price_data][product_data][name]=A`;
    const refused: [text: string, code: string, param: string][] = [
      ['line_items[5][quantity]=1', 'parameter_missing', 'line_items[5][price_data]'],
      [
        'line_items[5][price_data][unit_amount]=1&line_items[5][price_data][product_data][images][7]=x&line_items[5][price_data][product_data][name]=A',
        'url_invalid',
        'line_items[5][price_data][product_data][images][7]',
      ],
      [
        `${item('line_items[0]')}&line_items[9][price_data]=`,
        'parameter_invalid_empty',
        'line_items[9][price_data]',
      ],
      [
        `${item('line_items[2]')}&${item('line_items[1]')}&line_items[1][quantity]=0`,
        'parameter_invalid_integer',
        'line_items[1][quantity]',
      ],
      [
        'line_items[7][price_data][product_data][name]=A',
        'parameter_missing',
        'line_items[7][price_data][unit_amount]',
      ],
      [
        `${item('line_items[3]')}&line_items[3][price_data][unit_amount_decimal]=1`,
        'parameters_exclusive',
        'line_items[3][price_data][unit_amount_decimal]',
      ],
      [item('line_items[x]'), 'parameter_invalid', 'line_items'],
      [item('line_items[-1]'), 'parameter_invalid', 'line_items'],
      [item('line_items[1e3]'), 'parameter_invalid', 'line_items'],
      [item('line_items[1.0]'), 'parameter_invalid', 'line_items'],
      [item('line_items[0x1]'), 'parameter_invalid', 'line_items'],
      [item('line_items[%201]'), 'parameter_invalid', 'line_items'],
      [item('line_items[%D9%A1]'), 'parameter_invalid', 'line_items'],
      [item('line_items[99999999999]'), 'parameter_invalid', 'line_items'],
      [item('line_items[__proto__]'), 'parameter_invalid', 'line_items'],
      [`${item('line_items[0]')}&${item('line_items[length]')}`, 'parameter_invalid', 'line_items'],
      [`${item('line_items[0]')}&line_items=x`, 'parameter_invalid', 'line_items'],
      ['line_items=', 'parameter_invalid_empty', 'line_items'],
      ['line_items[]=', 'parameter_invalid_empty', 'line_items[0]'],
      ['line_items[]=x', 'parameter_invalid', 'line_items[0]'],
      ['line_items[0]=x', 'parameter_invalid', 'line_items[0]'],
      ['line_items', 'parameter_invalid_empty', 'line_items'],
      [`${COFFEE_FORM}&metadata=x`, 'parameter_invalid', 'metadata'],
      // JSON's ["x"] is refused for metadata, so its form has to be.
      [`${COFFEE_FORM}&metadata[]=x`, 'parameter_invalid', 'metadata'],
      [`${COFFEE_FORM}&metadata[a][b]=x`, 'parameter_invalid', 'metadata[a]'],
      [`${COFFEE_FORM}&metadata[a][]=x`, 'parameter_invalid', 'metadata[a]'],
      [`${COFFEE_FORM}&metadata[a]=1&metadata[b]=2&metadata[a]=1`, 'parameter_invalid', 'metadata[a]'],
      [`${COFFEE_FORM}&mode=payment&mode=`, 'parameter_invalid', 'mode'],
      [`${COFFEE_FORM}&expand[0]=line_items&expand[0]=line_items`, 'parameter_invalid', 'expand[0]'],
      [`${COFFEE_FORM}&expand=line_items&expand=line_items`, 'parameter_invalid', 'expand'],
      [`${COFFEE_FORM}&expand[a]=line_items`, 'parameter_invalid', 'expand'],
      [`${COFFEE_FORM}&mode[]=payment`, 'parameter_invalid', 'mode'],
      [`${COFFEE_FORM}&metadata[a=1`, 'parameter_unknown', 'metadata[a'],
      [`${COFFEE_FORM}&metadata]a[=1`, 'parameter_unknown', 'metadata]a['],
      [`${COFFEE_FORM}&metadata[a]b=1`, 'parameter_unknown', 'metadata[a]b'],
      [`${COFFEE_FORM}&[metadata]=1`, 'parameter_unknown', '[metadata]'],
      [`${COFFEE_FORM}&%00=1`, 'parameter_unknown', '\0'],
      [`${COFFEE_FORM}&metadata%00=1`, 'parameter_unknown', 'metadata\0'],
      [`${COFFEE_FORM};mode=payment&x=1`, 'parameter_unknown', 'x'],
    ];
    for (const [text, code, param] of refused) {
      it(`${text.replace(COFFEE_FORM, '…').slice(0, 90)} is ${code} on ${JSON.stringify(param)}`, async () => {
        assertInvalid(await form(text), code, param);
      });
    }

    it('of names nested 100,000 deep, long names, and names without end', async () => {
      const deep = '[a]'.repeat(100_000);
      assertInvalid(await form(`${COFFEE_FORM}&metadata${deep}=1`), 'parameter_invalid', 'metadata[a]');
      assertInvalid(await form(`${COFFEE_FORM}&nothing${deep}=1`), 'parameter_unknown', 'nothing');
      assertInvalid(
        await form(`line_items${'[0]'.repeat(100_000)}=1`),
        'parameter_missing',
        'line_items[0][price_data]',
      );
      for (const name of [
        'x'.repeat(1_000_000),
        'x[y'.repeat(300_000),
        '[]'.repeat(500_000),
        '😀'.repeat(100_000),
      ]) {
        const { code, param = '' } = assertErrorShape(
          await form(`${COFFEE_FORM}&${encodeURIComponent(name)}=1`),
        );
        assert.equal(code, 'parameter_unknown');
        assert.ok(
          param.length > 0 && param.length <= 300 && name.startsWith(param.replace(/[\ud800-\udbff]$/, '')),
        );
      }
    });

    it('with gaps, any order of indexes, and an index of nine digits', async () => {
      const text = ['line_items[999999999]', 'line_items[0]', 'line_items[10]', 'line_items[9]']
        .map((name, i) => item(name).replace('=A', `=${i}`))
        .join('&');
      const session = assertFine(await form(`${text}&expand=line_items`));
      const { data } = session.line_items as { data: { description: string }[] };
      assert.deepEqual(
        data.map(({ description }) => description),
        ['1', '3', '2', '0'],
      );
    });

    it('with a percent sign that encodes nothing: it is a percent sign', async () => {
      for (const text of ['100%', '%ZZ', '%', '%4', '%%41']) {
        const session = assertFine(await form(`${COFFEE_FORM}&client_reference_id=${text}`));
        assert.equal(session.client_reference_id, text.replace('%41', 'A'));
      }
    });
  });

  describe('as a name', () => {
    const names = [
      '__proto__',
      'constructor',
      'hasOwnProperty',
      'toString',
      'valueOf',
      'prototype',
      '__defineGetter__',
      'length',
      'then',
      'toJSON',
      '0',
      '-1',
    ];

    it('that means something to JavaScript is a metadata key like any other, everywhere', async () => {
      const metadata = `{${names.map((name) => `"${name}":"v-${name}"`).join(',')}}`;
      const asJson = await post(`{"line_items":${JSON_ITEMS},"metadata":${metadata}}`);
      const asForm = await form(
        `${COFFEE_FORM}&${names.map((name) => `metadata[${name}]=v-${name}`).join('&')}`,
      );
      for (const answer of [asJson, asForm]) {
        const { id } = assertFine(answer);
        const kept = (text: string): [string, unknown][] => {
          const { metadata: found } = JSON.parse(text);
          return Object.entries(found).sort(([a], [b]) => (a < b ? -1 : 1));
        };
        const expected = names
          .map((name): [string, unknown] => [name, `v-${name}`])
          .sort(([a], [b]) => (a < b ? -1 : 1));
        assert.deepEqual(kept(answer.text), expected);
        assert.equal((await send({ path: `${SESSIONS}/${id}` })).text, answer.text);
        const listed = await send({ path: `${SESSIONS}?limit=10` });
        assert.ok(listed.text.includes(answer.text));
        const expired = await post('', {}, `${SESSIONS}/${id}/expire`);
        assert.deepEqual(kept(expired.text), expected);
        const event = await Event.query(db).findOne({ checkoutSessionId: id }).throwIfNotFound();
        assert.deepEqual(kept(JSON.stringify(event.object)), expected);
      }
      assert.equal(withoutIds(asForm.text), withoutIds(asJson.text));
    });

    for (const name of ['__proto__', 'constructor', 'hasOwnProperty', 'toString', 'prototype', 'then']) {
      it(`${name} is an unknown parameter at every level, in JSON, forms and queries`, async () => {
        const hostile = `"${name}":{"polluted":true}`;
        const items = (extra: { item?: string; price?: string; product?: string }): string =>
          `"line_items":[{"price_data":{"unit_amount":1,"product_data":{"name":"A"${extra.product ?? ''}}${extra.price ?? ''}}${extra.item ?? ''}}]`;
        const bodies: [text: string, param: string][] = [
          [`{${items({})},${hostile}}`, name],
          [`{${items({ item: `,${hostile}` })}}`, `line_items[0][${name}]`],
          [`{${items({ price: `,${hostile}` })}}`, `line_items[0][price_data][${name}]`],
          [`{${items({ product: `,${hostile}` })}}`, `line_items[0][price_data][product_data][${name}]`],
        ];
        for (const [text, param] of bodies) assertInvalid(await post(text), 'parameter_unknown', param);
        for (const [pair, param] of [
          [`${name}=1`, name],
          [`${name}[polluted]=1`, name],
          [`${name}[prototype][polluted]=1`, name],
          [`line_items[0][${name}]=1`, `line_items[0][${name}]`],
          [`line_items[0][${name}][polluted]=1`, `line_items[0][${name}]`],
          [`line_items[0][price_data][${name}][polluted]=1`, `line_items[0][price_data][${name}]`],
        ] as const) {
          assertInvalid(await form(`${COFFEE_FORM}&${pair}`), 'parameter_unknown', param);
        }
        const url = `{"url":"${HOOK_URL}",${hostile}}`;
        assertInvalid(await post(url, JSON_TYPE, ENDPOINTS), 'parameter_unknown', name);
        for (const path of [SESSIONS, PAYMENTS, ENDPOINTS]) {
          assertInvalid(await send({ path: `${path}?${name}=1` }), 'parameter_unknown', name);
          assertInvalid(await send({ path: `${path}?${name}[polluted]=1` }), 'parameter_unknown', name);
        }
        assertInvalid(
          await send({ path: `${SESSIONS}?created[${name}]=1` }),
          'parameter_unknown',
          `created[${name}]`,
        );
      });
    }

    it('in brackets in a query is what the error names', async () => {
      assertInvalid(
        await send({ path: `${SESSIONS}?created[gte]=abc` }),
        'parameter_invalid_integer',
        'created[gte]',
      );
      assertInvalid(
        await send({ path: `${SESSIONS}?created[since]=1` }),
        'parameter_unknown',
        'created[since]',
      );
      assertInvalid(await send({ path: `${SESSIONS}?created=abc` }), 'parameter_invalid_integer', 'created');
      assertInvalid(
        await send({ path: `${SESSIONS}?created=1&created[gte]=1` }),
        'parameter_invalid',
        'created',
      );
    });
  });

  describe('as text', () => {
    const unreadable = ['a\0b', '\0', '\ud83d', 'a\udc00', '\udc00\ud83d'];
    const fields: [param: string, path: string, body: (text: string) => object][] = [
      ['client_reference_id', SESSIONS, (text) => ({ ...minimal, client_reference_id: text })],
      ['cancel_url', SESSIONS, (text) => ({ ...minimal, cancel_url: `https://shop.example/${text}` })],
      ['mode', SESSIONS, (text) => ({ ...minimal, mode: text })],
      ['expand[0]', SESSIONS, (text) => ({ ...minimal, expand: [text] })],
      ['payment_method_types[0]', SESSIONS, (text) => ({ ...minimal, payment_method_types: [text] })],
      [
        'line_items[0][price_data][currency]',
        SESSIONS,
        (text) => ({ line_items: [{ price_data: { ...coffee.price_data, currency: text } }] }),
      ],
      [
        'line_items[0][price_data][unit_amount_decimal]',
        SESSIONS,
        (text) => ({
          line_items: [{ price_data: { unit_amount_decimal: text, product_data: { name: 'A' } } }],
        }),
      ],
      ['metadata', SESSIONS, (text) => ({ ...minimal, metadata: { [text]: 'v' } })],
      ['url', ENDPOINTS, (text) => ({ url: `${HOOK_URL}/${text}` })],
      ['description', ENDPOINTS, (text) => ({ url: HOOK_URL, description: text })],
      ['enabled_events[0]', ENDPOINTS, (text) => ({ url: HOOK_URL, enabled_events: [text] })],
    ];
    for (const [param, path, body] of fields) {
      it(`that is none is refused in ${param}`, async () => {
        for (const text of unreadable) {
          assertInvalid(await json(body(text), path), 'parameter_invalid_string', param);
        }
        const inForm = formText(body('a\0b'));
        assertInvalid(await form(inForm, path), 'parameter_invalid_string', param);
      });
    }

    it('that is none is refused in unknown names, which are named all the same', async () => {
      for (const name of unreadable) {
        const answer = await json({ ...minimal, [name]: 1 });
        assertInvalid(answer, 'parameter_unknown', name);
      }
    });

    it('that is none is refused in queries', async () => {
      for (const [query, code, param] of [
        ['starting_after=%00', 'parameter_invalid_string', 'starting_after'],
        ['ending_before=cs_test_%00', 'parameter_invalid_string', 'ending_before'],
        ['status=open%00', 'parameter_invalid_string', 'status'],
        ['expand[]=%00', 'parameter_invalid_string', 'expand[0]'],
        ['limit=%00', 'parameter_invalid_integer', 'limit'],
        ['%00=1', 'parameter_unknown', '\0'],
      ] as const) {
        assertInvalid(await send({ path: `${SESSIONS}?${query}` }), code, param);
      }
    });

    it('of 3 MB is too long in every field, and is told so before anything costly looks at it', async () => {
      const long = 'a'.repeat(3_000_000);
      const texts: [param: string, path: string, body: object][] = [
        ['customer_email', SESSIONS, { ...minimal, customer_email: `a@${long}` }],
        ['success_url', SESSIONS, { ...minimal, success_url: `https://shop.example/${long}` }],
        ['client_reference_id', SESSIONS, { ...minimal, client_reference_id: long }],
        ['metadata[a]', SESSIONS, { ...minimal, metadata: { a: long } }],
        [
          'line_items[0][price_data][unit_amount_decimal]',
          SESSIONS,
          { line_items: [{ price_data: { unit_amount_decimal: long, product_data: { name: 'A' } } }] },
        ],
        ['url', ENDPOINTS, { url: `https://shop.example/${long}` }],
        ['description', ENDPOINTS, { url: HOOK_URL, description: long }],
      ];
      for (const [param, path, body] of texts) {
        assertInvalid(await json(body, path), 'parameter_invalid_string', param);
        assertInvalid(await form(formText(body), path), 'parameter_invalid_string', param);
      }
      const { code, param = '' } = assertErrorShape(await json({ ...minimal, metadata: { [long]: 'v' } }));
      assert.equal(code, 'parameter_invalid_string');
      assert.ok(param.startsWith('metadata[a') && param.length <= 300);
    });

    it('of any other kind comes back as it was sent', async () => {
      const texts = [
        '\u0001\u001f\u007f',
        'a\tb\r\nc',
        '\ufeffx',
        '\uffff\ufdd0',
        '\u202eevil\u2028',
        '👩‍👩‍👧‍👦',
        'e\u0301 é',
        "'; DROP TABLE checkout_sessions; --",
        '$' + '{jndi:ldap://x}',
        '<script>alert(1)</script>',
        '?',
        ':id',
        '??',
        '\\',
        '"',
        '{CHECKOUT_SESSION_ID}',
        ' leading and trailing ',
        '%00',
        '\\u0000',
      ];
      for (const text of texts) {
        const product = { name: text, description: text };
        const body = {
          line_items: [{ price_data: { unit_amount: 1, product_data: product } }],
          client_reference_id: text,
          metadata: { [text]: text },
          expand: ['line_items'],
        };
        const [asJson, asForm] = [await json(body), await form(formText(body))];
        const session = assertFine(asJson);
        assert.equal(session.client_reference_id, text);
        assert.deepEqual(session.metadata, { [text]: text });
        assert.equal(withoutIds(asForm.text), withoutIds(asJson.text));
        const again = await send({ path: `${SESSIONS}/${session.id}?expand[]=line_items` });
        assert.equal(again.text, asJson.text);
        await post('', {}, `${SESSIONS}/${session.id}/expire`);
        const event = await Event.query(db).findOne({ checkoutSessionId: session.id }).throwIfNotFound();
        assert.deepEqual(Reflect.get(event.object, 'metadata'), { [text]: text });
      }
    });

    it('in success_url adds no header and no line to anything', async () => {
      for (const text of ['\r\nSet-Cookie: a=b', '\nx', '\u0085x', '\u2028x', '\tx', '\u007f', ' x', '\\x']) {
        for (const field of ['success_url', 'cancel_url']) {
          const url = `https://shop.example/${text}`;
          assertInvalid(await json({ ...minimal, [field]: url }), 'url_invalid', field);
          const encoded = encodeURIComponent(url);
          assertInvalid(await form(`${COFFEE_FORM}&${field}=${encoded}`), 'url_invalid', field);
        }
      }
      const harmless = 'https://shop.example/%0d%0aSet-Cookie:%20a=b';
      assert.equal(assertFine(await json({ ...minimal, success_url: harmless })).success_url, harmless);
    });
  });

  describe('as a number', () => {
    const withQuantity = (raw: string): string =>
      `{"line_items":[{"quantity":${raw},"price_data":{"unit_amount":1,"product_data":{"name":"A"}}}]}`;
    const withAmount = (raw: string): string =>
      `{"line_items":[{"price_data":{"unit_amount":${raw},"product_data":{"name":"A"}}}]}`;
    const QUANTITY = 'line_items[0][quantity]';
    const AMOUNT = 'line_items[0][price_data][unit_amount]';

    for (const [raw, total] of [
      ['1.0', 1],
      ['1e3', 1000],
      ['1E+2', 100],
      ['100e-2', 1],
      ['999999', 999_999],
      ['1.00000000000000000000', 1],
    ] as const) {
      it(`${raw} in JSON is the integer ${total}`, async () => {
        assert.equal(assertFine(await post(withQuantity(raw))).amount_total, total);
      });
    }

    it('-0 in JSON is 0 cents, and said so', async () => {
      for (const raw of ['-0', '-0.0', '-0e5']) {
        const answer = await post(withAmount(raw));
        assert.match(answer.text, /"amount_total":0,/);
        const { id } = assertFine(answer);
        assert.equal((await send({ path: `${SESSIONS}/${id}` })).text, answer.text);
      }
      assertInvalid(await post(withQuantity('-0')), 'parameter_invalid_integer', QUANTITY);
    });

    for (const raw of [
      '0',
      '-1',
      '1000000',
      '1.5',
      '1e-7',
      '1e400',
      '-1e400',
      '9007199254740992',
      '9007199254740993',
      '1e21',
      '9'.repeat(100_000),
      '"1"',
      '"NaN"',
      'true',
      'false',
      '[]',
      '[1]',
      '{}',
      '"1e3"',
    ]) {
      it(`${raw.slice(0, 20)} in JSON is no quantity`, async () => {
        assertInvalid(await post(withQuantity(raw)), 'parameter_invalid_integer', QUANTITY);
      });
    }

    for (const raw of [
      '-1',
      '100000000',
      '0.1',
      '1e400',
      '9007199254740992',
      '"450"',
      'true',
      '[450]',
      '"Infinity"',
    ]) {
      it(`${raw} in JSON is no amount`, async () => {
        assertInvalid(await post(withAmount(raw)), 'parameter_invalid_integer', AMOUNT);
      });
    }

    for (const text of [
      '1e3',
      '1.0',
      '%201',
      '1%20',
      '%2B1',
      '0x1',
      '1_000',
      '1,000',
      '%D9%A1',
      'NaN',
      'Infinity',
      '-Infinity',
      'null',
      'undefined',
      'true',
      '--1',
      '-',
      '1%0a',
      '9'.repeat(100_000),
      `-${'9'.repeat(400)}`,
    ]) {
      it(`${text.slice(0, 20)} in a form or a query is no integer`, async () => {
        assertInvalid(
          await form(`${COFFEE_FORM}&line_items[0][quantity]=${text}`),
          'parameter_invalid_integer',
          QUANTITY,
        );
        assertInvalid(
          await form(`${COFFEE_FORM}&expires_at=${text}`),
          'parameter_invalid_integer',
          'expires_at',
        );
        if (text.length > 10_000) return;
        for (const path of [SESSIONS, PAYMENTS, ENDPOINTS]) {
          assertInvalid(await send({ path: `${path}?limit=${text}` }), 'parameter_invalid_integer', 'limit');
        }
        assertInvalid(
          await send({ path: `${SESSIONS}?created=${text}` }),
          'parameter_invalid_integer',
          'created',
        );
      });
    }

    for (const text of [
      '1.0',
      '1e3',
      '-1',
      '+1',
      ' 1',
      '1\n',
      '٣',
      '0x1',
      'NaN',
      '1_0',
      '100000000',
      '9'.repeat(20),
    ]) {
      it(`${JSON.stringify(text)} is no unit_amount_decimal`, async () => {
        const price = { unit_amount_decimal: text, product_data: { name: 'A' } };
        const param = 'line_items[0][price_data][unit_amount_decimal]';
        const body = { line_items: [{ price_data: price }] };
        assertInvalid(await json(body), 'parameter_invalid_integer', param);
        assertInvalid(await form(formText(body)), 'parameter_invalid_integer', param);
      });
    }
  });

  describe('as a boolean', () => {
    let id: string;
    before(async () => {
      ({ id } = assertFine(await json({ url: HOOK_URL }, ENDPOINTS)));
    });

    for (const text of ['yes', 'no', '1', '0', 'TRUE', 'True', 'on', 't', ' true', 'truefalse', 'null']) {
      it(`${JSON.stringify(text)} in a form is none`, async () => {
        const path = `${ENDPOINTS}/${id}`;
        assertInvalid(
          await form(`disabled=${encodeURIComponent(text)}`, path),
          'parameter_invalid',
          'disabled',
        );
      });
    }
    for (const raw of ['"true"', '"false"', '1', '0', '[true]', '{"a":true}']) {
      it(`${raw} in JSON is none`, async () => {
        const path = `${ENDPOINTS}/${id}`;
        assertInvalid(await post(`{"disabled":${raw}}`, JSON_TYPE, path), 'parameter_invalid', 'disabled');
      });
    }
    it('in brackets or twice is none', async () => {
      const path = `${ENDPOINTS}/${id}`;
      for (const text of ['disabled[]=true', 'disabled[a]=true', 'disabled=true&disabled=true']) {
        assertInvalid(await form(text, path), 'parameter_invalid', 'disabled');
      }
    });
  });

  describe('as a path', () => {
    const ids = [
      '%00',
      'cs_test_%00',
      '%2F',
      '..%2F..%2Fhealthz',
      '..',
      '.',
      '%2e%2e',
      '*',
      "'%20OR%201=1--",
      '%E2%82%AC',
      '%F0%9F%98%80',
      '%C3%A9',
      '__proto__',
      'constructor',
      'undefined',
      'null',
      '0',
      '%25',
      '%20',
      'cs_test_',
      'we_',
      'cs_live_0Vba7EH1000Lcb3pTXPHZqxZeEVu',
      'a'.repeat(100),
      'a'.repeat(10_000),
      '%61'.repeat(3000),
      ';x=1',
      '$',
      ':id',
      '(.*)',
    ];
    for (const id of ids) {
      it(`id ${id.slice(0, 40)} names nothing`, async () => {
        for (const [method, path] of [
          ['GET', `${SESSIONS}/${id}`],
          ['POST', `${SESSIONS}/${id}/expire`],
          ['GET', `${SESSIONS}/${id}/line_items`],
          ['GET', `${ENDPOINTS}/${id}`],
          ['POST', `${ENDPOINTS}/${id}`],
          ['DELETE', `${ENDPOINTS}/${id}`],
        ] as const) {
          assertError(await send({ method, path }), 404, 'resource_missing', 'id');
        }
      });
    }

    for (const id of ['%', '%Z', '%ZZ', '%ff', '%C3', '%C3%28', '%ED%A0%80', '%u0041', 'cs_test_%E0%A4%A']) {
      it(`id ${id}, which encodes nothing, is the client's mistake`, async () => {
        for (const [method, path] of [
          ['GET', `${SESSIONS}/${id}`],
          ['POST', `${SESSIONS}/${id}/expire`],
          ['GET', `${SESSIONS}/${id}/line_items`],
          ['GET', `${ENDPOINTS}/${id}`],
          ['DELETE', `${ENDPOINTS}/${id}`],
        ] as const) {
          const answer = await send({ method, path });
          assertError(answer, 404, 'resource_missing', 'id');
        }
        assert.doesNotMatch(logged.join(''), /"level":"error"/);
      });
    }

    it('that is broken elsewhere is unknown', async () => {
      for (const path of [
        '/v1/%ZZ',
        '/v1/%00',
        '/v1/checkout/%ff',
        '/v1',
        '/v1/',
        '/v1/checkout',
        '/v1/customers',
      ]) {
        assertError(await send({ path }), 404, 'unknown_path');
        assertError(await send({ path, key: undefined }), 401, 'api_key_missing');
      }
    });

    it('with a slash at its end is the same', async () => {
      const { id } = await buildSession(db, shop.accountId);
      for (const path of [
        SESSIONS,
        PAYMENTS,
        ENDPOINTS,
        `${SESSIONS}/${id}`,
        `${SESSIONS}/${id}/line_items`,
      ]) {
        const [plain, slashed] = [await send({ path }), await send({ path: `${path}/` })];
        assertFine(plain);
        assert.equal(slashed.text, plain.text);
      }
      assertError(await send({ path: '//v1/checkout/sessions' }), 404, 'unknown_path');
      assertError(await send({ path: '/v1//checkout/sessions' }), 404, 'unknown_path');
      assertError(await send({ path: `${SESSIONS}//expire`, method: 'POST' }), 404, 'unknown_path');
    });

    it('in another case is unknown, and does nothing', async () => {
      const { id } = await buildSession(db, shop.accountId);
      for (const [method, path] of [
        ['GET', '/v1/Checkout/sessions'],
        ['GET', '/v1/checkout/SESSIONS'],
        ['GET', '/v1/Payments'],
        ['GET', '/v1/webhook_Endpoints'],
        ['GET', `${SESSIONS}/${id}/LINE_ITEMS`],
        ['POST', `${SESSIONS}/${id}/Expire`],
        ['POST', '/V1/checkout/sessions'],
        ['GET', '/v1/%63heckout/sessions'],
      ] as const) {
        assertError(await send({ method, path }), 404, 'unknown_path');
      }
      assert.equal((await CheckoutSession.query(db).findById(id))?.status, 'open');
    });

    it('with its host before it is the same, also to an Idempotency-Key', async () => {
      const body = JSON.stringify(minimal);
      const headers = { ...JSON_TYPE, 'Idempotency-Key': 'absolute-form' };
      const first = await post(body, headers);
      assertFine(first);
      const again = await post(body, headers, `http://pay.example${SESSIONS}`);
      assert.equal(again.text, first.text);
    });

    it('with a query that is broken, long, or has a question mark in it', async () => {
      assertInvalid(await send({ path: `${SESSIONS}?limit=%ZZ` }), 'parameter_invalid_integer', 'limit');
      assertInvalid(await send({ path: `${SESSIONS}?%ZZ=1` }), 'parameter_unknown', '%ZZ');
      assertInvalid(
        await send({ path: `${SESSIONS}?limit=1?limit=2` }),
        'parameter_invalid_integer',
        'limit',
      );
      assertError(
        await send({ path: `${SESSIONS}?starting_after=%` }),
        404,
        'resource_missing',
        'starting_after',
      );
      assertInvalid(
        await send({ path: `${SESSIONS}?${'x'.repeat(20_000)}` }),
        'parameter_unknown',
        'x'.repeat(300),
      );
      assertFine(await send({ path: `${SESSIONS}?` }));
      assertFine(await send({ path: `${SESSIONS}?&&&limit=1&` }));
      for (const [method, path] of [
        ['POST', SESSIONS],
        ['GET', `${ENDPOINTS}/we_x`],
        ['DELETE', `${ENDPOINTS}/we_x`],
        ['POST', `${SESSIONS}/cs_test_x/expire`],
      ] as const) {
        assertInvalid(
          await send({ method, path: `${path}?expand[]=line_items` }),
          'parameter_unknown',
          'expand',
        );
      }
    });
  });

  describe('as a method', () => {
    const routes: [path: string, allow: string][] = [
      [SESSIONS, 'GET, HEAD, POST'],
      [`${SESSIONS}/cs_test_x`, 'GET, HEAD'],
      [`${SESSIONS}/cs_test_x/expire`, 'POST'],
      [`${SESSIONS}/cs_test_x/line_items`, 'GET, HEAD'],
      [PAYMENTS, 'GET, HEAD'],
      [ENDPOINTS, 'GET, HEAD, POST'],
      [`${ENDPOINTS}/we_x`, 'GET, HEAD, POST, DELETE'],
      [KEYS, 'POST'],
    ];
    const methods = [
      'GET',
      'HEAD',
      'POST',
      'PUT',
      'PATCH',
      'DELETE',
      'OPTIONS',
      'TRACE',
      'PROPFIND',
      'PURGE',
      'LOCK',
      'M-SEARCH',
    ];
    for (const [path, allow] of routes) {
      const others = methods.filter((method) => !allow.split(', ').includes(method));
      it(`${others.join(', ')} on ${path}: 401 without a key, 405 with Allow with one`, async () => {
        for (const method of others) {
          const bare = await send({ method, path, key: undefined });
          assert.equal(bare.status, 401, `${method} without a key: ${bare.text}`);
          const answer = await send({ method, path });
          assert.equal(answer.status, 405, `${method}: ${answer.text}`);
          assert.equal(answer.headers.allow, allow);
          assert.match(String(answer.headers['request-id']), /^req_/);
          if (method === 'HEAD') assert.equal(answer.text, '');
          else assertError(answer, 405, 'method_not_allowed');
        }
      });
    }

    it('HEAD: the headers of GET, also when that is refused, and no body', async () => {
      for (const path of [SESSIONS, `${SESSIONS}/cs_test_x`, `${SESSIONS}?limit=0`, '/v1/nothing']) {
        const [get, headOnly] = [await send({ path }), await send({ path, method: 'HEAD' })];
        assert.equal(headOnly.status, get.status);
        assert.equal(headOnly.text, '');
        const { date: _d, 'request-id': _r, 'content-length': _l, ...shown } = get.headers;
        const { date: _d2, 'request-id': _r2, 'content-length': length, ...shownHead } = headOnly.headers;
        assert.deepEqual(shownHead, shown);
        assert.ok(Number(length) > 0);
      }
    });

    it('CONNECT and what is no method end the connection', async () => {
      for (const line of [
        'CONNECT pay.example:443',
        `FOO ${SESSIONS}`,
        `get ${SESSIONS}`,
        `GET${SESSIONS}`,
        'GET',
        '\0',
      ]) {
        const answer = await exchange(head(line), { end: true });
        assert.match(answer, /^(HTTP\/1\.1 400 Bad Request\r\n.*)?$/s, line);
      }
      assertFine(await send({}));
    });
  });

  describe('as a header', () => {
    it('in Authorization that holds no key is 401, and repeated nowhere', async () => {
      const key = shop.testKey;
      const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;
      const shapes: [header: string, code: string][] = [
        ['', 'api_key_missing'],
        [' ', 'api_key_missing'],
        ['Bearer', 'api_key_missing'],
        ['Bearer ', 'api_key_missing'],
        [key, 'api_key_missing'],
        [`Bearer${key}`, 'api_key_missing'],
        [`Bearer ${key} ${key}`, 'api_key_missing'],
        [`Token ${key}`, 'api_key_missing'],
        [`Digest username="${key}"`, 'api_key_missing'],
        [`Bearer\u00a0${key}`, 'api_key_missing'],
        ['Basic', 'api_key_missing'],
        ['Basic :', 'api_key_missing'],
        [basic(''), 'api_key_missing'],
        [basic(`:${key}`), 'api_key_missing'],
        [`Bearer ${key}x`, 'api_key_invalid'],
        [`Bearer ${key.slice(0, -1)}`, 'api_key_invalid'],
        [`Bearer ${key.toUpperCase()}`, 'api_key_invalid'],
        [`Bearer "${key}"`, 'api_key_invalid'],
        [`Bearer ${key},`, 'api_key_invalid'],
        [`Bearer ${key}\u00e9`, 'api_key_invalid'],
        [`Bearer ${'x'.repeat(15_000)}`, 'api_key_invalid'],
        [`Bearer ${key.replace('test', 'live')}`, 'api_key_invalid'],
        ["Bearer ' OR 1=1 --", 'api_key_missing'],
        ["Bearer 'OR'1'='1", 'api_key_invalid'],
        [basic(` ${key}:`), 'api_key_invalid'],
        [basic(`${key}\0:`), 'api_key_invalid'],
        [basic(`${key}\n:`), 'api_key_invalid'],
        [basic('\0'), 'api_key_invalid'],
        [`Basic ${'A'.repeat(15_000)}`, 'api_key_invalid'],
        ['Basic ÿÿÿÿ', 'api_key_missing'],
      ];
      for (const [header, code] of shapes) {
        const answer = await send({ headers: { Authorization: header } });
        assert.equal(answer.status, 401, `${header.slice(0, 60)}: ${answer.text}`);
        assertError(answer, 401, code);
        for (const part of [key.slice('svc_ck_test_'.length, -4), key.toUpperCase()]) {
          assert.ok(!answer.text.includes(part), answer.text);
        }
      }
    });

    it('in Latin-1 does no harm', async () => {
      const strange = Buffer.from(Array.from({ length: 128 }, (_, i) => i + 128)).toString('latin1');
      for (const name of [
        'Idempotency-Key',
        'User-Agent',
        'Stripe-Version',
        'X-Request-Id',
        'Accept',
        'Cookie',
        'Referer',
      ]) {
        // Bytes: with a text, node:http would send the header in UTF-8 as well.
        const body = Buffer.from(JSON.stringify(minimal));
        const sendIt = (): Promise<Answer> => post(body, { ...JSON_TYPE, [name]: strange });
        const [first, second] = [await sendIt(), await sendIt()];
        assertFine(first);
        assert.equal(second.text === first.text, name === 'Idempotency-Key');
      }
    });

    it('of another proxy or client is not believed', async () => {
      const answer = await send({
        headers: {
          'X-Request-Id': 'req_mine',
          'Request-Id': 'req_mine',
          'X-HTTP-Method-Override': 'DELETE',
          'X-Forwarded-For': "127.0.0.1, ' OR 1=1",
          'X-Forwarded-Host': 'evil.example',
          'X-Forwarded-Proto': 'javascript',
          Host: 'evil.example',
          Expect: '100-continue',
        },
      });
      assertFine(answer);
      assert.notEqual(answer.headers['request-id'], 'req_mine');
      const made = await post(JSON.stringify(minimal), { ...JSON_TYPE, Host: 'evil.example' });
      assert.match(String(assertFine(made).url), /^https:\/\/pay\.example\/c\/cs_test_/);
    });

    it('in great number or size is answered by the server itself', async () => {
      const large = head(`GET ${SESSIONS}`, `X-Large: ${'x'.repeat(40_000)}`);
      assert.match(await exchange(large), /^HTTP\/1\.1 431 /);
      const many = Array.from({ length: 1500 }, (_, i) => `X-${i}: ${i}`);
      assert.match(await exchange(head(`GET ${SESSIONS}`, ...many, 'Connection: close')), /^HTTP\/1\.1 200 /);
    });
  });

  describe('when the database refuses', () => {
    it('tells the log what happened, but nothing of the buyer', async () => {
      await db.raw(`
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'the disk is full'; END $$`);
      try {
        await db.raw('CREATE TRIGGER refuse BEFORE INSERT ON checkout_sessions EXECUTE FUNCTION refuse()');
        await db.raw('CREATE TRIGGER refuse BEFORE INSERT ON webhook_endpoints EXECUTE FUNCTION refuse()');
        const body = { ...minimal, metadata: { secret: MARK }, client_reference_id: MARK };
        const headers = { ...JSON_TYPE, 'Idempotency-Key': 'refused' };
        assertError(await post(JSON.stringify(body), headers), 500, 'internal_error');
        assertError(await json(body), 500, 'internal_error');
        const hook = { url: HOOK_URL, description: MARK };
        assertError(await json(hook, ENDPOINTS), 500, 'internal_error');
      } finally {
        await db.raw('DROP FUNCTION refuse CASCADE');
      }
      assert.match(logged.join(''), /"event":"request\.failed".*the disk is full/);
    });
  });

  describe('at random', () => {
    const SEEDS = [1, 20_261_101, 7_777_777];
    const REQUESTS = 1200;
    const LANES = 16;

    for (const seed of SEEDS) {
      it(`(${REQUESTS} requests from seed ${seed}) is never a 500 and never without the Error shape`, async function () {
        this.timeout(120_000);
        const own = await buildMerchant(db);
        const known = [
          (await buildSession(db, own.accountId)).id,
          (await buildSession(db, own.accountId, { status: 'complete' })).id,
          (await buildSession(db, own.accountId, { livemode: true })).id,
        ];
        const fuzz = new Fuzz(seed, [own.testKey, own.liveKey, shop.testKey], known);
        const seen = new Map<number, number>();
        const lane = async (): Promise<void> => {
          while (fuzz.made < REQUESTS) {
            const sent = fuzz.next();
            const answer = await send(sent);
            const told = `${JSON.stringify(sent).slice(0, 2000)}\n${answer.text}`;
            assert.ok([200, 400, 401, 404, 405].includes(answer.status), told);
            assert.match(String(answer.headers['request-id']), /^req_/, told);
            if (answer.status !== 200 && sent.method !== 'HEAD') assertErrorShape(answer);
            seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1);
            const { id } = answer.status === 200 && sent.method === 'POST' ? JSON.parse(answer.text) : {};
            if (id !== undefined) fuzz.learn(id);
          }
        };
        // The first complaint ends all lanes, not only its own.
        const stop = (error: unknown): never => {
          fuzz.made = REQUESTS;
          throw error;
        };
        const lanes = await Promise.allSettled(Array.from({ length: LANES }, () => lane().catch(stop)));
        for (const outcome of lanes) if (outcome.status === 'rejected') throw outcome.reason;
        // It reached what lies behind the checks, not only the checks.
        for (const status of [200, 400, 401, 404, 405]) assert.ok((seen.get(status) ?? 0) >= 10, `${status}`);
        const text = logged.join('');
        assert.doesNotMatch(text, /"level":"(error|fatal|warn)"/);
        for (const secret of [own.testKey, own.liveKey]) assert.ok(!text.includes(secret));
        assert.equal(text.split('"event":"request.finished"').length - 1, fuzz.made);
      });
    }
  });
});

type Json = string | number | boolean | null | Json[] | { [name: string]: Json };

/** Requests that are nearly right: valid ones, damaged in one to three places. The same seed gives the same ones. */
class Fuzz {
  made = 0;
  private state: number;
  private readonly keys: readonly string[];
  private readonly ids: string[];

  constructor(seed: number, keys: readonly string[], ids: readonly string[]) {
    this.state = seed;
    this.keys = keys;
    this.ids = [...ids];
  }

  learn(id: string): void {
    this.ids.push(id);
  }

  next(): Sent {
    this.made += 1;
    const { method, path, body } = this.pick<() => { method: string; path: string; body?: Json }>([
      () => ({ method: 'POST', path: SESSIONS, body: this.session() }),
      () => ({ method: 'POST', path: SESSIONS, body: this.session() }),
      () => ({ method: 'POST', path: SESSIONS, body: this.session() }),
      () => ({ method: 'POST', path: ENDPOINTS, body: this.endpoint() }),
      () => ({ method: 'POST', path: `${ENDPOINTS}/${this.id()}`, body: this.endpoint() }),
      () => ({ method: 'POST', path: `${SESSIONS}/${this.id()}/expire`, body: {} }),
      () => ({ method: 'POST', path: KEYS, body: { livemode: this.chance(0.5), name: this.text() } }),
      () => ({ method: 'GET', path: `${SESSIONS}?${this.query()}` }),
      () => ({ method: 'GET', path: `${SESSIONS}/${this.id()}?${this.query()}` }),
      () => ({ method: 'GET', path: `${SESSIONS}/${this.id()}/line_items?${this.query()}` }),
      () => ({ method: 'GET', path: `${PAYMENTS}?${this.query()}` }),
      () => ({ method: 'GET', path: `${ENDPOINTS}?${this.query()}` }),
      () => ({ method: this.pick(['GET', 'DELETE']), path: `${ENDPOINTS}/${this.id()}` }),
    ])();
    const sent: Sent = {
      method: this.chance(0.05) ? this.pick(['PUT', 'PATCH', 'DELETE', 'HEAD', 'TRACE', 'PROPFIND']) : method,
      path,
      headers: { ...this.idempotencyKey() },
      key: this.chance(0.05)
        ? this.pick([undefined, 'x', 'svc_ck_test_xxxxxxxxxxxxxxxxxxxx'])
        : this.pick(this.keys),
    };
    return body === undefined ? sent : { ...sent, ...this.encode(this.damage(body), sent.headers) };
  }

  private encode(body: Json, headers: Record<string, string> = {}): Pick<Sent, 'headers' | 'body'> {
    // A form cannot hold half of a surrogate pair.
    const isForm =
      this.chance(0.5) &&
      typeof body === 'object' &&
      body !== null &&
      !/\\ud[89a-f]/.test(JSON.stringify(body));
    let text = isForm ? formText(body) : JSON.stringify(body);
    if (isForm && this.chance(0.3)) text += `&${this.pair()}`;
    if (this.chance(0.03)) text = text.slice(0, Math.floor(text.length * this.random()));
    let type = isForm ? 'application/x-www-form-urlencoded' : 'application/json';
    if (this.chance(0.03))
      type = this.pick([
        'text/plain',
        'application/json',
        'multipart/form-data',
        'application/x-www-form-urlencoded',
      ]);
    const bytes = Buffer.from(text);
    if (this.chance(0.02) && bytes.length > 0)
      bytes[Math.floor(this.random() * bytes.length)] = Math.floor(this.random() * 256);
    const zipped = this.chance(0.1);
    return {
      headers: { ...headers, 'Content-Type': type, ...(zipped && { 'Content-Encoding': 'gzip' }) },
      body: zipped ? gzipSync(bytes) : bytes,
    };
  }

  private session(): Json {
    const item = (): Json => ({
      price_data: {
        currency: 'usd',
        unit_amount: Math.floor(this.random() * 10_000),
        product_data: { name: this.text(), description: this.text(), images: ['https://img.example/a.png'] },
      },
      quantity: 1 + Math.floor(this.random() * 9),
    });
    return {
      line_items: Array.from({ length: 1 + Math.floor(this.random() * 3) }, item),
      success_url: 'https://shop.example/{CHECKOUT_SESSION_ID}',
      customer_email: `${MARK}@mail.example`,
      client_reference_id: this.text(),
      metadata: { [this.text()]: this.text(), b: MARK },
      expand: this.chance(0.5) ? ['line_items'] : [],
    };
  }

  private endpoint(): Json {
    return {
      url: HOOK_URL,
      enabled_events: [this.pick(['*', 'checkout.session.completed', 'checkout.session.expired'])],
      description: this.text(),
    };
  }

  /** Half of the bodies stay whole. */
  private damage(body: Json): Json {
    const copy: Json = JSON.parse(JSON.stringify(body));
    for (let left = this.chance(0.5) ? 0 : 1 + Math.floor(this.random() * 3); left > 0; left--)
      this.damageOnce(copy);
    return this.chance(0.01) ? this.value() : copy;
  }

  private damageOnce(node: Json): void {
    if (typeof node !== 'object' || node === null) return;
    const names = Object.keys(node);
    const isNew = names.length === 0 || this.chance(0.1);
    const name = isNew ? this.name() : this.pick(names);
    const child: Json | undefined = Object.hasOwn(node, name) ? Reflect.get(node, name) : undefined;
    if (typeof child === 'object' && child !== null && this.chance(0.7)) this.damageOnce(child);
    else if (this.chance(0.15)) Reflect.deleteProperty(node, name);
    else if (Array.isArray(node)) node.push(this.value());
    // Defined, not assigned: `__proto__` is a name like any other here.
    else {
      const value = this.value();
      Object.defineProperty(node, name, { value, enumerable: true, configurable: true, writable: true });
    }
  }

  private value(): Json {
    return this.pick<() => Json>([
      () => this.text(),
      () => this.text(),
      () =>
        this.pick([0, -1, 1.5, 1e21, 2 ** 53, -0, 99_999_999, 999_999, Math.floor(Date.now() / 1000) + 3600]),
      () => this.pick([true, false, null]),
      () => [],
      () => ({}),
      () => [this.text(), 1, null],
      () => ({ [this.name()]: this.text() }),
      () => 'x'.repeat(this.pick([40, 41, 200, 201, 250, 251, 500, 501, 5000, 5001, 70_000])),
      () => Array.from({ length: this.pick([1, 8, 9, 100, 101]) }, () => this.text()),
    ])();
  }

  private name(): string {
    return this.pick([
      '__proto__',
      'constructor',
      'toString',
      'length',
      '',
      '0',
      'a[b]',
      'a]',
      '[',
      'line_items',
      'mode',
      'url',
      'disabled',
      'expires_at',
      'a\0b',
      '\ud800',
      'payment_method_types',
    ]);
  }

  private text(): string {
    return this.pick([
      MARK,
      MARK,
      'a',
      '',
      ' ',
      '007',
      'true',
      'null',
      'a\0b',
      '\ud800x',
      '😀'.repeat(20),
      '\u202e\u2028\uffff',
      "' OR 1=1 --",
      '%00%ff',
      '$1 ?? :id {}',
      '<b>&amp;',
      '\\u0000',
    ]);
  }

  private pair(): string {
    return this.pick([
      'a=1',
      'metadata[x]=1',
      'metadata[]=1',
      'metadata=1',
      'line_items[]=1',
      'line_items[a][b]=1',
      'line_items[99]=',
      'mode=payment',
      'mode[]=1',
      '=',
      '&&',
      '%',
      '[]=1',
      'metadata[%00]=1',
      `m${'[x]'.repeat(30)}=1`,
      'url=https://other.example',
      'expand=line_items',
    ]);
  }

  private query(): string {
    const one = (): string =>
      this.pick([
        '',
        '',
        'limit=3',
        'limit=0',
        'limit=a',
        `starting_after=${this.id()}`,
        `ending_before=${this.id()}`,
        'starting_after=%00',
        'status=open',
        'status=processing',
        'expand[]=line_items',
        'expand[]=data.line_items',
        'created[gte]=1',
        'created[lt]=99999999999',
        'created=-1',
        'created[x]=1',
        '%ff=%ff',
        '__proto__[a]=1',
        'limit=1&limit=1',
      ]);
    return Array.from({ length: Math.floor(this.random() * 3) }, one).join('&');
  }

  private id(): string {
    return this.chance(0.7)
      ? this.pick(this.ids.slice(-40))
      : this.pick(['cs_test_x', 'we_x', '%00', '%2F', 'x'.repeat(300), '..', '__proto__', '%E2%82%AC', "'"]);
  }

  private idempotencyKey(): Record<string, string> {
    if (this.chance(0.6)) return {};
    return { 'Idempotency-Key': this.pick(['a', 'b', 'c', 'd', `fuzz-${this.made}`, 'k'.repeat(256), 'é']) };
  }

  private chance(probability: number): boolean {
    return this.random() < probability;
  }

  private pick<T>(choices: readonly T[]): T {
    return choices[Math.floor(this.random() * choices.length)] as T;
  }

  /** mulberry32 */
  private random(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  }
}
