import assert from 'node:assert/strict';
import type { Response } from 'supertest';
import { ERROR_CATALOG } from '../../api/errors/catalog.js';
import {
  buildEndpoints,
  buildKey,
  buildMerchant,
  buildPaidSession,
  buildRefund,
  buildRevokedKey,
  buildSession,
} from '../../lab/world/shop/factories.js';
import type { RefusalCode } from '../../shared/errors/refusal.js';
import { nowMs } from '../../shared/process/clock.js';
import { newId } from '../../shared/values/ids.js';
import { insertAgentKeys } from '../support/agent-keys.js';
import { assertRefusal, buildSigner, client, signToken } from '../support/api-client.js';
import { openTestApp } from '../support/app.js';
import { forAllTests } from '../support/hooks.js';
import { coffee, ENDPOINTS, minimal, REFUNDS, SESSIONS } from '../support/orders.js';
import { createDatabase } from '../support/suite.js';
import { answerTo, unfinished } from '../support/unreadable-requests.js';

type Reach = () => Promise<Response>;
/** One way to a code. The expected status is written here, its type in `assertRefusal`, independent of the code under test. */
type Case = [status: number, param: string | undefined, reach: Reach];

describe('errors', () => {
  const app = forAllTests(openTestApp);
  const shop = forAllTests(() => buildMerchant(app.db));
  const api = forAllTests(() => client(app, shop.testKey));

  const answered = (status: number, reach: Reach): Case => [status, undefined, reach];
  const invalid = (param: string | undefined, reach: Reach): Case => [400, param, reach];
  const withPrice = (price: object) => ({
    line_items: [coffee, { price_data: { ...coffee.price_data, ...price } }],
  });
  const PRICE = 'line_items[1][price_data]';

  const cases: Record<RefusalCode, Case> = {
    amount_too_large: invalid('line_items', async () => {
      const dear = { price_data: { ...coffee.price_data, unit_amount: 99_999_999 }, quantity: 999_999 };
      return await api.post(SESSIONS, { line_items: Array.from({ length: 91 }, () => dear) });
    }),
    api_key_invalid: answered(401, () => client(app, 'svc_ck_test_nobodys').get(SESSIONS)),
    api_key_missing: answered(401, () => client(app).get(SESSIONS)),
    api_key_revoked: answered(401, async () => {
      return await client(app, await buildRevokedKey(app.db, shop.accountId)).get(SESSIONS);
    }),
    body_too_large: invalid(undefined, () => api.post(SESSIONS, ' '.repeat(2 * 1024 * 1024 + 1))),
    checkout_session_not_open: invalid('id', async () => {
      const { id } = await buildSession(app.db, shop.accountId, { status: 'expired' });
      return await api.post(`${SESSIONS}/${id}/expire`);
    }),
    email_invalid: invalid('customer_email', () =>
      api.post(SESSIONS, { ...minimal, customer_email: 'nobody' }),
    ),
    headers_too_large: answered(431, () =>
      answerTo(app, `GET / HTTP/1.1\r\nHost: x\r\nX-Large: ${'x'.repeat(40_000)}\r\n\r\n`),
    ),
    idempotency_key_invalid: answered(400, () =>
      api.post(SESSIONS, minimal).set('Idempotency-Key', 'k'.repeat(256)),
    ),
    idempotency_key_reused: answered(400, async () => {
      await api.post(SESSIONS, minimal).set('Idempotency-Key', 'reused').expect(200);
      return await api.post(SESSIONS, withPrice({})).set('Idempotency-Key', 'reused');
    }),
    key_read_only: answered(403, async () => {
      const { secret } = await buildKey(app.db, shop.accountId, { access: 'read' });
      return await client(app, secret).post(SESSIONS, minimal);
    }),
    malformed_body: invalid(undefined, () => api.post(SESSIONS, '{"line_items":')),
    malformed_request: invalid(undefined, () =>
      answerTo(app, 'GET /v1/payments HTTP/1.1\r\nno header\r\n\r\n'),
    ),
    method_not_allowed: answered(405, () => api.delete('/v1/payments')),
    parameter_invalid: invalid('line_items[1]', () => api.post(SESSIONS, { line_items: [coffee, 'coffee'] })),
    parameter_invalid_empty: invalid(`${PRICE}[product_data][name]`, () =>
      api.post(SESSIONS, withPrice({ product_data: { name: '' } })),
    ),
    parameter_invalid_enum: invalid(`${PRICE}[currency]`, () =>
      api.post(SESSIONS, withPrice({ currency: 'eur' })),
    ),
    parameter_invalid_integer: invalid(`${PRICE}[unit_amount]`, () =>
      api.post(SESSIONS, withPrice({ unit_amount: 1.5 })),
    ),
    parameter_invalid_string: invalid(`${PRICE}[product_data][description]`, () =>
      api.post(SESSIONS, withPrice({ product_data: { name: 'A', description: 'd'.repeat(501) } })),
    ),
    parameter_missing: invalid(`${PRICE}[product_data][name]`, () =>
      api.post(SESSIONS, withPrice({ product_data: {} })),
    ),
    parameter_unknown: invalid(`${PRICE}[product_data][tax_code]`, () =>
      api.post(SESSIONS, withPrice({ product_data: { name: 'A', tax_code: 'x' } })),
    ),
    parameters_exclusive: invalid('ending_before', () =>
      api.get(`${SESSIONS}?starting_after=cs_test_1&ending_before=cs_test_2`),
    ),
    payer_unknown: invalid('payment', async () => {
      const { payment } = await buildPaidSession(app.db, shop.accountId, { payer: null });
      return await api.post(REFUNDS, { payment: payment.id });
    }),
    payment_not_succeeded: invalid('payment_intent', async () => {
      const { payment } = await buildPaidSession(app.db, shop.accountId, { status: 'failed' });
      return await api.post(REFUNDS, { payment_intent: payment.id });
    }),
    payout_wallet_missing: invalid(undefined, async () => {
      const poor = await buildMerchant(app.db, { evmWallet: null, solanaWallet: null });
      return await client(app, poor.testKey).post(SESSIONS, minimal);
    }),
    rate_limit: answered(429, async () => {
      const signer = await buildSigner(app.db);
      await insertAgentKeys(app.db, signer, 10, nowMs());
      return await client(app, signToken(signer)).post('/v1/keys');
    }),
    refund_amount_too_large: invalid('amount', async () => {
      const { payment } = await buildPaidSession(app.db, shop.accountId);
      return await api.post(REFUNDS, { payment: payment.id, amount: 451 });
    }),
    refund_not_cancelable: invalid('id', async () => {
      const { id } = await buildRefund(app.db, shop.accountId, { status: 'expired' });
      return await api.post(`${REFUNDS}/${id}/cancel`);
    }),
    request_timeout: answered(408, () => unfinished(app)),
    resource_missing: [404, 'id', () => api.get(`${SESSIONS}/${newId('cs_test_')}`)],
    service_unavailable: answered(503, async () => {
      const away = await openTestApp({ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' });
      try {
        const res = await client(away, shop.testKey.replace(/.$/, '0')).get(SESSIONS);
        assert.equal(res.get('Retry-After'), '5');
        return res;
      } finally {
        await away.close();
      }
    }),
    token_expired: answered(401, async () => {
      const expired = { iat: 1_700_000_000, exp: 1_700_000_120 };
      return await client(app, signToken(await buildSigner(app.db), expired)).post('/v1/keys');
    }),
    token_invalid: answered(401, () => client(app, 'a.b.c').post('/v1/keys')),
    token_missing: answered(401, () => client(app).post('/v1/keys')),
    unknown_path: answered(404, () => api.get('/v1/customers')),
    unsupported_content_encoding: invalid(undefined, () =>
      api.post(SESSIONS, minimal).set('Content-Encoding', 'gzip'),
    ),
    unsupported_content_type: invalid(undefined, () =>
      api.send('post', SESSIONS).type('text/plain').send('{}'),
    ),
    url_invalid: invalid('success_url', () =>
      api.post(SESSIONS, { ...minimal, success_url: 'javascript:1' }),
    ),
    webhook_endpoint_disabled: invalid('webhook_endpoint', async () => {
      const { body: session } = await api.post(SESSIONS, minimal).expect(200);
      await api.post(`${SESSIONS}/${session.id}/expire`).expect(200);
      const [off] = await buildEndpoints(app.db, shop.accountId, 1, { status: 'disabled' });
      const { data } = (await api.get('/v1/events?limit=1').expect(200)).body;
      return await api.post(`/v1/events/${data[0].id}/resend`, { webhook_endpoint: off });
    }),
    webhook_endpoint_limit: invalid(undefined, async () => {
      const busy = await buildMerchant(app.db);
      await buildEndpoints(app.db, busy.accountId, 1000);
      return await client(app, busy.testKey).post(ENDPOINTS, { url: 'https://1.1.1.1/' });
    }),
  };

  describe('have a status, a type and a code, and name the parameter', () => {
    const asserted = new Set<string>();
    for (const [code, [status, param, reach]] of Object.entries(cases)) {
      it(`${status} ${code}`, async () => {
        assertRefusal(await reach(), status, code, param);
        asserted.add(code);
      });
    }

    it('for every code of the catalog', () => {
      assert.deepEqual([...asserted].sort(), Object.keys(ERROR_CATALOG).sort());
    });
  });

  describe('of the service', () => {
    // Without tables every statement fails, with an error that quotes it.
    const broken = forAllTests(async () =>
      openTestApp({ DATABASE_URL: await createDatabase('errors_without_tables') }),
    );

    it('are 500 internal_error without internal details', async () => {
      const answers = [
        await client(broken, `svc_ck_test_${'x'.repeat(40)}`).get(SESSIONS),
        await client(broken, `svc_ck_test_${'y'.repeat(40)}`).post(SESSIONS, minimal),
        await client(broken, signToken(await buildSigner(app.db))).post('/v1/keys'),
      ];
      for (const res of answers) {
        assertRefusal(res, 500, 'internal_error');
        assert.doesNotMatch(
          res.text,
          /select|from|relation|api_keys|facilitator|node_modules|svc_ck|\.[tj]s\b/i,
        );
      }
    });
  });
});
