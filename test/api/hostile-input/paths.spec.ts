import assert from 'node:assert/strict';
import { buildSession } from '../../../lab/world/shop/factories.js';
import { CheckoutSession } from '../../../shared/checkout-sessions/model.js';
import { forAllTests } from '../../support/hooks.js';
import { assertError, assertFine, assertInvalid } from '../../support/hostile-input/assert-answers.js';
import { openHostileClient } from '../../support/hostile-input/client.js';
import { JSON_TYPE, minimal } from '../../support/hostile-input/order.js';
import { ENDPOINTS, PAYMENTS, SESSIONS } from '../../support/orders.js';

describe('hostile input', () => {
  const web = forAllTests(openHostileClient);
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
      'cs_test_1',
      'a%2Fb',
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
      it(`with the id ${id.slice(0, 40)} names no object`, async () => {
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
      it(`with the id ${id}, which is not valid percent-encoding, is a client error`, async () => {
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

    it('that is malformed elsewhere, or goes on after what exists, is unknown', async () => {
      for (const path of [
        '/v1/checkout/session',
        '/v1/checkout%2Fsessions',
        `${SESSIONS}/cs_test_1/pay`,
        '/v1/payments/pay_1/refund',
        '/v1/keys/key_1/secret',
        '/v1/refunds/re_1/pay',
        '/v1/events/evt_1/delivery',
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

    it('with a trailing slash is the same', async () => {
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

    it('in another case is unknown, and has no effect', async () => {
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

    it('in absolute form is the same, also for an Idempotency-Key', async () => {
      const body = JSON.stringify(minimal);
      const headers = { ...JSON_TYPE, 'Idempotency-Key': 'absolute-form' };
      const first = await web.post(body, headers);
      assertFine(first);
      const again = await web.post(body, headers, `http://pay.example${SESSIONS}`);
      assert.equal(again.text, first.text);
    });

    it('with a query that is malformed, long, or contains a question mark', async () => {
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
    });
  });
});
