import assert from 'node:assert/strict';
import { CheckoutSession } from '../../../shared/models/checkout-session.js';
import { buildSession } from '../../support/factories.js';
import { assertError, assertFine, assertInvalid } from '../../support/hostile-input/assert-answers.js';
import { type Answer, type HostileClient, openHostileClient } from '../../support/hostile-input/client.js';
import {
  ENDPOINTS,
  JSON_TYPE,
  KEYS,
  minimal,
  PAYMENTS,
  SESSIONS,
} from '../../support/hostile-input/order.js';

describe('hostile input', () => {
  let web: HostileClient;
  before(async () => {
    web = await openHostileClient();
  });
  after(() => web.close());
  afterEach(() => web.assertUnharmed());

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
          assertError(await web.send({ method, path }), 404, 'resource_missing', 'id');
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
          const answer = await web.send({ method, path });
          assertError(answer, 404, 'resource_missing', 'id');
        }
        assert.doesNotMatch(web.logged.join(''), /"level":"error"/);
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
        assertError(await web.send({ path }), 404, 'unknown_path');
        assertError(await web.send({ path, key: undefined }), 401, 'api_key_missing');
      }
    });

    it('with a slash at its end is the same', async () => {
      const { id } = await buildSession(web.db, web.shop.accountId);
      for (const path of [
        SESSIONS,
        PAYMENTS,
        ENDPOINTS,
        `${SESSIONS}/${id}`,
        `${SESSIONS}/${id}/line_items`,
      ]) {
        const [plain, slashed] = [await web.send({ path }), await web.send({ path: `${path}/` })];
        assertFine(plain);
        assert.equal(slashed.text, plain.text);
      }
      assertError(await web.send({ path: '//v1/checkout/sessions' }), 404, 'unknown_path');
      assertError(await web.send({ path: '/v1//checkout/sessions' }), 404, 'unknown_path');
      assertError(await web.send({ path: `${SESSIONS}//expire`, method: 'POST' }), 404, 'unknown_path');
    });

    it('in another case is unknown, and does nothing', async () => {
      const { id } = await buildSession(web.db, web.shop.accountId);
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
        assertError(await web.send({ method, path }), 404, 'unknown_path');
      }
      assert.equal((await CheckoutSession.query(web.db).findById(id))?.status, 'open');
    });

    it('with its host before it is the same, also to an Idempotency-Key', async () => {
      const body = JSON.stringify(minimal);
      const headers = { ...JSON_TYPE, 'Idempotency-Key': 'absolute-form' };
      const first = await web.post(body, headers);
      assertFine(first);
      const again = await web.post(body, headers, `http://pay.example${SESSIONS}`);
      assert.equal(again.text, first.text);
    });

    it('with a query that is broken, long, or has a question mark in it', async () => {
      assertInvalid(await web.send({ path: `${SESSIONS}?limit=%ZZ` }), 'parameter_invalid_integer', 'limit');
      assertInvalid(await web.send({ path: `${SESSIONS}?%ZZ=1` }), 'parameter_unknown', '%ZZ');
      assertInvalid(
        await web.send({ path: `${SESSIONS}?limit=1?limit=2` }),
        'parameter_invalid_integer',
        'limit',
      );
      assertError(
        await web.send({ path: `${SESSIONS}?starting_after=%` }),
        404,
        'resource_missing',
        'starting_after',
      );
      assertInvalid(
        await web.send({ path: `${SESSIONS}?${'x'.repeat(20_000)}` }),
        'parameter_unknown',
        'x'.repeat(300),
      );
      assertFine(await web.send({ path: `${SESSIONS}?` }));
      assertFine(await web.send({ path: `${SESSIONS}?&&&limit=1&` }));
      for (const [method, path] of [
        ['POST', SESSIONS],
        ['GET', `${ENDPOINTS}/we_x`],
        ['DELETE', `${ENDPOINTS}/we_x`],
        ['POST', `${SESSIONS}/cs_test_x/expire`],
      ] as const) {
        assertInvalid(
          await web.send({ method, path: `${path}?expand[]=line_items` }),
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
      [`${PAYMENTS}/pay_x`, 'GET, HEAD'],
      ['/v1/refunds', 'GET, HEAD, POST'],
      ['/v1/refunds/re_x', 'GET, HEAD'],
      ['/v1/refunds/re_x/cancel', 'POST'],
      ['/v1/events', 'GET, HEAD'],
      ['/v1/events/evt_x', 'GET, HEAD'],
      ['/v1/events/evt_x/resend', 'POST'],
      [`${ENDPOINTS}/we_x/deliveries`, 'GET, HEAD'],
      [`${ENDPOINTS}/we_x/roll_secret`, 'POST'],
      [KEYS, 'GET, HEAD, POST'],
      [`${KEYS}/key_x`, 'DELETE'],
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
          const bare = await web.send({ method, path, key: undefined });
          assert.equal(bare.status, 401, `${method} without a key: ${bare.text}`);
          const answer = await web.send({ method, path });
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
        const [get, headOnly] = [await web.send({ path }), await web.send({ path, method: 'HEAD' })];
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
        const answer = await web.exchange(web.head(line), { end: true });
        assert.match(answer, /^(HTTP\/1\.1 400 Bad Request\r\n.*)?$/s, line);
      }
      assertFine(await web.send({}));
    });
  });

  describe('as a header', () => {
    it('in Authorization that holds no key is 401, and repeated nowhere', async () => {
      const key = web.shop.testKey;
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
        const answer = await web.send({ headers: { Authorization: header } });
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
        const sendIt = (): Promise<Answer> => web.post(body, { ...JSON_TYPE, [name]: strange });
        const [first, second] = [await sendIt(), await sendIt()];
        assertFine(first);
        assert.equal(second.text === first.text, name === 'Idempotency-Key');
      }
    });

    it('of another proxy or client is not believed', async () => {
      const answer = await web.send({
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
      const made = await web.post(JSON.stringify(minimal), { ...JSON_TYPE, Host: 'evil.example' });
      assert.match(String(assertFine(made).url), /^https:\/\/pay\.example\/c\/cs_test_/);
    });

    it('in great number or size is answered by the server itself', async () => {
      const large = web.head(`GET ${SESSIONS}`, `X-Large: ${'x'.repeat(40_000)}`);
      assert.match(await web.exchange(large), /^HTTP\/1\.1 431 /);
      const many = Array.from({ length: 1500 }, (_, i) => `X-${i}: ${i}`);
      assert.match(
        await web.exchange(web.head(`GET ${SESSIONS}`, ...many, 'Connection: close')),
        /^HTTP\/1\.1 200 /,
      );
    });
  });
});
