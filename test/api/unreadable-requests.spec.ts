import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { buildMerchant } from '../../lab/world/shop/factories.js';
import { assertInvalid, assertRefusal, client } from '../support/api-client.js';
import { openTestApp } from '../support/app.js';
import { forAllTests } from '../support/hooks.js';

const SESSIONS = '/v1/checkout/sessions';
const ENDPOINTS = '/v1/webhook_endpoints';
const order = { line_items: [{ price_data: { unit_amount: 450, product_data: { name: 'Coffee' } } }] };

describe('errors', () => {
  const app = forAllTests(openTestApp);
  const api = forAllTests(async () => client(app, (await buildMerchant(app.db)).testKey));

  describe('of an unreadable request', () => {
    const post = (type: string | undefined, encoding?: string) => {
      const test = api.send('post', SESSIONS);
      test.set('Content-Type', type ?? '');
      if (encoding !== undefined) test.set('Content-Encoding', encoding);
      return test.serialize((body) => body);
    };
    const json = JSON.stringify(order);

    for (const text of [
      '{',
      '[1]',
      '[]',
      '"text"',
      '7',
      'null',
      'true',
      "{'a':1}",
      '{"a":1}}',
      'line_items[0]=1',
      'undefined',
    ]) {
      it(`malformed_body: the JSON ${text}`, async () => {
        assertInvalid(await api.post(SESSIONS, text), 'malformed_body');
      });
    }
    for (const type of ['application/json', 'application/x-www-form-urlencoded']) {
      it(`malformed_body: ${type} that is not UTF-8`, async () => {
        const bytes = Buffer.concat([Buffer.from('{"mode":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]);
        assertInvalid(await post(type).send(bytes), 'malformed_body');
      });
    }
    for (const type of [
      'text/plain',
      'application/xml',
      'multipart/form-data; boundary=x',
      'text/json',
      'json',
      'application/jsonp',
    ]) {
      it(`unsupported_content_type: ${type}`, async () => {
        assertInvalid(
          await api.send('post', SESSIONS).set('Content-Type', type).send(json),
          'unsupported_content_type',
        );
      });
    }
    it('do not occur for content types with parameters or in capitals, or JSON with a byte order mark', async () => {
      for (const type of [
        'application/json; charset=utf-8',
        'Application/JSON',
        'application/vnd.shop+json',
      ]) {
        await api.send('post', SESSIONS).set('Content-Type', type).send(json).expect(200);
      }
      await api.post(SESSIONS, `\ufeff${json}`).expect(200);
    });

    const packed: [encoding: string, bytes: Buffer][] = [
      ['gzip', gzipSync(json)],
      ['deflate', deflateSync(json)],
      ['br', brotliCompressSync(json)],
      ['zstd', Buffer.from(json)],
    ];
    for (const [encoding, bytes] of packed) {
      it(`unsupported_content_encoding: a body in ${encoding}`, async () => {
        assertInvalid(await post('application/json', encoding).send(bytes), 'unsupported_content_encoding');
      });
    }
  });

  describe('of a path', () => {
    for (const path of [
      '/v1/customers',
      '/v1/checkout',
      '/v1/checkout/session',
      `${SESSIONS}/cs_test_1/pay`,
      '/v1/payments/pay_1/refund',
      '/v1/keys/key_1/secret',
      '/v1/refunds/re_1/pay',
      '/v1/events/evt_1/delivery',
      '/v1//payments',
      '/v1/Payments',
      '/v1/checkout%2Fsessions',
      '/v1/',
      '/v1',
    ]) {
      it(`unknown_path: ${path}`, async () => {
        const res = await api.get(path);
        assertRefusal(res, 404, { type: 'invalid_request_error', code: 'unknown_path' });
      });
    }

    const ids = [
      'cs_test_1',
      'x',
      '0',
      '-',
      'a.b',
      'a%20b',
      'a%2Fb',
      '%00',
      '%F0%9F%A5%90',
      "'%20OR%201=1",
      'null',
      'i'.repeat(3000),
    ];
    for (const id of ids) {
      it(`resource_missing: the id ${id.slice(0, 20)}`, async () => {
        const refusal = { type: 'invalid_request_error', code: 'resource_missing', param: 'id' } as const;
        for (const path of [`${SESSIONS}/${id}`, `${SESSIONS}/${id}/line_items`, `${ENDPOINTS}/${id}`]) {
          assertRefusal(await api.get(path), 404, refusal);
        }
        assertRefusal(await api.post(`${SESSIONS}/${id}/expire`), 404, refusal);
        assertRefusal(await api.post(`${ENDPOINTS}/${id}`, { disabled: true }), 404, refusal);
        assertRefusal(await api.delete(`${ENDPOINTS}/${id}`), 404, refusal);
      });
    }

    for (const id of ['%zz', '%', '%E0%A4%A', '%ff']) {
      it(`malformed percent-encoding in the id ${id} is a client error`, async () => {
        for (const path of [`${SESSIONS}/${id}`, `${SESSIONS}/${id}/line_items`, `${ENDPOINTS}/${id}`]) {
          assertRefusal(await api.get(path), 404, {
            type: 'invalid_request_error',
            code: 'resource_missing',
            param: 'id',
          });
        }
      });
    }
  });
});
