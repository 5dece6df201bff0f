import assert from 'node:assert/strict';
import request, { type Response } from 'supertest';
import { buildPaidSession } from '../../lab/world/shop/factories.js';
import { newId } from '../../shared/values/ids.js';
import { openTestApp } from '../support/app.js';
import { openCheckout } from '../support/checkout.js';
import { forAllTests } from '../support/hooks.js';
import { answerOf, assertReadable, listOf } from '../support/link-answers.js';
import { createDatabase } from '../support/suite.js';
import { unfinished } from '../support/unreadable-requests.js';
import { asResponse, exchange } from '../support/wire.js';

const ALLOWED = [
  'payment-signature',
  'x-payment',
  'retry-after',
  'content-type',
  'accept',
  'access-control-expose-headers',
];
const ORIGIN = { Origin: 'https://agent.example' };

describe('a browser agent', () => {
  const checkout = forAllTests(() => openCheckout({ worker: false }));

  describe('passes the preflight (OPTIONS)', () => {
    const preflight = (id: string, headers: Record<string, string> = {}): Promise<Response> =>
      request(checkout.app.server)
        .options(`/c/${id}`)
        .set({
          ...ORIGIN,
          'Access-Control-Request-Method': 'GET',
          'Access-Control-Request-Headers': 'access-control-expose-headers,payment-signature',
          ...headers,
        });

    it('in every status of a session, and without one', async () => {
      const { accountId } = checkout.merchant;
      const ids = [
        (await checkout.buildSession()).id,
        (await checkout.buildSession({ status: 'expired' })).id,
        (await checkout.buildSession({ status: 'processing' })).id,
        (await buildPaidSession(checkout.app.db, accountId)).session.id,
        newId('cs_test_'),
        'x',
        '%',
      ];
      for (const id of ids) {
        const res = await preflight(id);
        assert.equal(res.status, 204, id);
        assert.equal(res.text, '');
        assertReadable(res);
      }
    });

    it('with the methods and the headers of a link', async () => {
      const res = await preflight((await checkout.buildSession()).id);
      for (const [allowed, needed] of [
        ['Methods', ['get', 'post']],
        ['Headers', ALLOWED],
      ] as const) {
        const listed = listOf(res, `Access-Control-Allow-${allowed}`);
        for (const name of needed) assert.ok(listed.includes(name), name);
      }
    });

    it('which never pays', async () => {
      const { id } = await checkout.buildSession();
      const payment = await checkout.sign(id);
      const res = await preflight(id, { 'PAYMENT-SIGNATURE': payment.header });
      assert.equal(res.status, 204);
      assert.deepEqual(checkout.calls(payment), { verify: 0, settle: 0 });
      assert.deepEqual(await checkout.state(id), { session: 'open', payments: [], events: [] });
    });
  });

  describe('may read the response', () => {
    /** `send` asserts of each answer in each spec that it may be read. */
    it('405 method_not_allowed', async () => {
      const { id } = await checkout.buildSession();
      assert.equal(answerOf(await checkout.send('put', id, ORIGIN)), '405 method_not_allowed');
    });

    it('429 rate_limit', async () => {
      const limited = await openCheckout({
        worker: false,
        environment: { RATE_LIMIT_LINK_PER_MINUTE: '1', TRUST_PROXY: '1' },
      });
      const headers = { ...ORIGIN, 'X-Forwarded-For': '198.51.100.1' };
      const { id } = await limited.buildSession();
      await limited.visit(id, headers);
      const res = await limited.visit(id, headers);
      assert.equal(answerOf(res), '429 rate_limit');
      await limited.close();
    });

    const headers = (count: number): string =>
      Array.from({ length: count }, (_, i) => `X-${i}: ${i}\r\n`).join('');
    const refused: Record<string, [answer: string, bytes: string]> = {
      'too many headers': ['431 headers_too_large', `Host: x\r\n${headers(70)}\r\n`],
      'a head over 32 KiB': ['431 headers_too_large', `Host: x\r\nX: ${'x'.repeat(33 * 1024)}\r\n\r\n`],
      'no Host': ['400 malformed_request', '\r\n'],
      'a broken header': ['400 malformed_request', 'Host: x\r\nnothing\r\n\r\n'],
    };
    for (const [what, [answer, bytes]] of Object.entries(refused)) {
      it(`${answer} for ${what}, which the connection refuses`, async () => {
        const { port } = checkout.app;
        const { id } = await checkout.buildSession();
        for (const target of [`/c/${id}`, `/c/${id}?token=USDC`, `/c/${id}/status`, `http://x/c/${id}`]) {
          const res = asResponse(await exchange(port, `GET ${target} HTTP/1.1\r\n${bytes}`));
          assert.equal(answerOf(res), answer, target);
          assertReadable(res);
          assert.equal(res.get('Cache-Control'), 'no-store');
        }
      });
    }

    it('408 request_timeout, of a head that never ends', async () => {
      const res = await unfinished(checkout.app);
      assert.equal(answerOf(res), '408 request_timeout');
      assertReadable(res);
    });

    it('never the one that the connection gives to a merchant', async () => {
      for (const path of ['/v1/payments', '/cs', '/c2/x', '/mcp', '/']) {
        const bytes = `GET ${path} HTTP/1.1\r\nHost: x\r\n${headers(70)}\r\n`;
        const res = asResponse(await exchange(checkout.app.port, bytes));
        assert.equal(answerOf(res), '431 headers_too_large', path);
        assert.equal(res.get('Access-Control-Allow-Origin'), undefined, path);
      }
    });

    for (const [answer, databaseUrl] of [
      ['500 internal_error', () => createDatabase('without_tables')],
      ['503 payment_service_unavailable', async () => 'postgres://nobody@127.0.0.1:1/nothing'],
    ] as const) {
      it(`${answer}, when the database is the cause`, async () => {
        const app = await openTestApp({ DATABASE_URL: await databaseUrl() });
        const res = await request(app.server)
          .get(`/c/${newId('cs_test_')}`)
          .set(ORIGIN);
        assert.equal(answerOf(res), answer);
        assert.deepEqual(Object.keys(res.body.error), ['code', 'message']);
        assert.doesNotMatch(res.text, /select|relation|checkout_sessions|ECONN|postgres/i);
        assertReadable(res);
        assert.equal(res.get('Cache-Control'), 'no-store');
        if (res.status === 503) assert.match(res.get('Retry-After') ?? '', /^[1-9][0-9]*$/);
        await app.close();
      });
    }
  });
});
