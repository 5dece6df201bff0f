import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type Stripe from 'stripe';
import { buildMerchant } from '../../../lab/world/shop/factories.js';
import { revokeApiKey } from '../../../shared/accounts/api-keys.js';
import { CheckoutSession } from '../../../shared/checkout-sessions/model.js';
import { WebhookEndpoint } from '../../../shared/webhooks/model.js';
import { openTestApp } from '../../support/app.js';
import { forAllTests } from '../../support/hooks.js';
import { assertThrows, coffee, sdk } from '../../support/stripe-sdk.js';

const ENDPOINT_URL = 'https://shop.example/hooks';

type SessionParams = Stripe.Checkout.SessionCreateParams;

describe('the stock Stripe SDK', () => {
  const app = forAllTests(() => openTestApp({ WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true' }));
  const shop = forAllTests(() => buildMerchant(app.db));
  let stripe: Stripe;
  before(async () => {
    stripe = sdk(shop.testKey, app.port);
  });

  describe('throws its own error classes', () => {
    /** test/api/checkout-sessions-bodies.spec.ts has every parameter. */
    const invalid: [what: string, params: object, code: string, param: string][] = [
      // The SDK drops empty arrays, so that the API gets no line items.
      ['an empty array', { line_items: [] }, 'parameter_missing', 'line_items'],
      [
        'a wrong amount in a nested field',
        { line_items: [coffee, { price_data: { ...coffee.price_data, unit_amount: 'free' } }] },
        'parameter_invalid_integer',
        'line_items[1][price_data][unit_amount]',
      ],
    ];
    for (const [what, params, code, param] of invalid) {
      it(`StripeInvalidRequestError for ${what}`, async () => {
        const asked = stripe.checkout.sessions.create(params as SessionParams);
        const { rawType } = await assertThrows(asked, { code, param });
        assert.equal(rawType, 'invalid_request_error');
      });
    }

    it('StripeInvalidRequestError for an unknown cursor', async () => {
      await assertThrows(
        stripe.checkout.sessions.list({ starting_after: 'cs_test_nothing' }).autoPagingToArray({ limit: 10 }),
        { code: 'resource_missing', param: 'starting_after', statusCode: 404 },
      );
    });

    it('StripeInvalidRequestError for a path that the API does not have', async () => {
      await assertThrows(stripe.customers.list(), { code: 'unknown_path', statusCode: 404 });
    });

    it('StripeInvalidRequestError for a change of an endpoint with an empty id, and creates none', async () => {
      const owner = await buildMerchant(app.db);
      const { webhookEndpoints } = sdk(owner.testKey, app.port);
      const error = await assertThrows(
        webhookEndpoints.update('', { url: ENDPOINT_URL, enabled_events: ['*'] }),
        { code: 'unknown_path', statusCode: 404 },
      );
      assert.match(error.message, / ends with a slash, where an id may be missing\.$/);
      assert.deepEqual((await webhookEndpoints.list()).data, []);
    });

    it('StripeAuthenticationError for a key that is wrong or was revoked', async () => {
      const wrong = await assertThrows(
        sdk(`svc_ck_test_${'x'.repeat(40)}`, app.port).checkout.sessions.list(),
        { type: 'StripeAuthenticationError', code: 'api_key_invalid', statusCode: 401 },
      );
      assert.doesNotMatch(wrong.message, /xxxxx/);

      const owner = await buildMerchant(app.db);
      const mine = sdk(owner.testKey, app.port);
      await mine.checkout.sessions.list();
      const { rows } = await app.db.raw(
        'SELECT id FROM api_keys WHERE account_id = ? AND NOT livemode',
        owner.accountId,
      );
      await revokeApiKey(app.db, rows[0].id);
      await assertThrows(mine.checkout.sessions.list(), {
        type: 'StripeAuthenticationError',
        code: 'api_key_revoked',
        statusCode: 401,
      });
    });

    it('StripeIdempotencyError for a key that was used with other parameters', async () => {
      const idempotencyKey = 'sdk-reused';
      await stripe.checkout.sessions.create({ line_items: [coffee] }, { idempotencyKey });
      await assertThrows(
        stripe.checkout.sessions.create(
          { line_items: [coffee], client_reference_id: 'x' },
          { idempotencyKey },
        ),
        { type: 'StripeIdempotencyError', code: 'idempotency_key_reused' },
      );
    });

    it('StripeRateLimitError with Retry-After, which the SDK does not retry', async () => {
      const slow = await openTestApp({ RATE_LIMIT_API_PER_SECOND: '1' });
      try {
        const owner = await buildMerchant(slow.db);
        const mine = sdk(owner.testKey, slow.port);
        // The limit is one a second with a burst of one: of ten at once, at most two pass.
        const outcomes = await Promise.allSettled(
          Array.from({ length: 10 }, () => mine.checkout.sessions.list()),
        );
        const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
        assert.ok(refused.length > 0);
        for (const { reason } of refused) {
          const expected = { type: 'StripeRateLimitError', code: 'rate_limit', statusCode: 429 } as const;
          await assertThrows(Promise.reject(reason), expected);
          assert.match(reason.headers?.['retry-after'] ?? '', /^[1-9]\d*$/);
        }
      } finally {
        await slow.close();
      }
    });
  });

  describe('that names an account', () => {
    for (const [option, header] of [
      ['stripeAccount', 'Stripe-Account'],
      ['stripeContext', 'Stripe-Context'],
    ] as const) {
      it(`by ${option} is refused when the key is not of it, and nothing is created`, async () => {
        const [owner, other] = [await buildMerchant(app.db), await buildMerchant(app.db)];
        const { sessions } = sdk(owner.testKey, app.port).checkout;
        const named = { [option]: other.accountId };
        const asked = [sessions.create({ line_items: [coffee] }, named), sessions.list({}, named)];
        const refusal = { code: 'parameter_invalid', param: header };
        await Promise.all(asked.map((work) => assertThrows(work, refusal)));
        assert.deepEqual((await sessions.list()).data, []);
      });

      it(`by ${option} may be the key's own`, async () => {
        const owner = await buildMerchant(app.db);
        const { sessions } = sdk(owner.testKey, app.port).checkout;
        const { id } = await sessions.create({ line_items: [coffee] }, { [option]: owner.accountId });
        assert.equal((await sessions.retrieve(id, {}, { [option]: '' })).id, id);
      });
    }
  });

  describe('retries', () => {
    const fronts: LossyFront[] = [];
    afterEach(() => Promise.all(fronts.splice(0).map((front) => front.close())));

    async function lossyFront(losses: number): Promise<LossyFront> {
      const front = await openLossyFront(app.port, losses);
      fronts.push(front);
      return front;
    }

    it('by the caller with one idempotencyKey: the first answer again', async () => {
      const params: SessionParams = { line_items: [coffee], client_reference_id: 'by-hand' };
      const options = { idempotencyKey: 'sdk-by-hand' };
      const first = await stripe.checkout.sessions.create(params, options);
      const again = await stripe.checkout.sessions.create(params, options);
      assert.deepEqual(again, first);
      assert.equal(first.lastResponse.headers['idempotent-replayed'], undefined);
      assert.equal(again.lastResponse.headers['idempotent-replayed'], 'true');
      assert.notEqual(again.lastResponse.requestId, first.lastResponse.requestId);
    });

    it('a create when the answer was lost twice: one session', async () => {
      const front = await lossyFront(2);
      const session = await sdk(shop.testKey, front.port).checkout.sessions.create({
        line_items: [coffee],
        client_reference_id: 'lost-twice',
      });
      assert.equal(front.keys.length, 3);
      assert.equal(new Set(front.keys).size, 1);
      assert.equal(session.lastResponse.headers['idempotent-replayed'], 'true');
      const rows = await CheckoutSession.query(app.db).where({ clientReferenceId: 'lost-twice' });
      assert.deepEqual(
        rows.map(({ id }) => id),
        [session.id],
      );
    });

    it('a create even with maxNetworkRetries 0, when the connection broke: one session', async () => {
      const front = await lossyFront(1);
      const withoutRetries = sdk(shop.testKey, front.port, { maxNetworkRetries: 0 });
      const session = await withoutRetries.checkout.sessions.create({
        line_items: [coffee],
        client_reference_id: 'lost-once',
      });
      const rows = await CheckoutSession.query(app.db).where({ clientReferenceId: 'lost-once' });
      assert.deepEqual(
        rows.map(({ id }) => id),
        [session.id],
      );
    });

    it('an expire when the answer was lost: expired, not checkout_session_not_open', async () => {
      const { id } = await stripe.checkout.sessions.create({ line_items: [coffee] });
      const front = await lossyFront(1);
      const expired = await sdk(shop.testKey, front.port).checkout.sessions.expire(id);
      assert.equal(expired.status, 'expired');
      assert.equal(expired.lastResponse.headers['idempotent-replayed'], 'true');
    });

    it('a webhook endpoint when the answer was lost: one endpoint, with its secret', async () => {
      const owner = await buildMerchant(app.db);
      const front = await lossyFront(1);
      const endpoint = await sdk(owner.testKey, front.port).webhookEndpoints.create({
        url: ENDPOINT_URL,
        enabled_events: ['*'],
      });
      const rows = await WebhookEndpoint.query(app.db).where({ accountId: owner.accountId });
      assert.deepEqual(
        rows.map(({ id, sealedSecret }) => [id, app.secretBox.open(sealedSecret)]),
        [[endpoint.id, endpoint.secret]],
      );
    });
  });
});

interface LossyFront {
  port: number;
  /** The Idempotency-Key of each request that arrived. */
  keys: string[];
  close(): Promise<void>;
}

/**
 * Forwards requests, and breaks the connection in place of the first answers: the request is carried out and its
 * answer lost.
 */
async function openLossyFront(upstreamPort: number, losses: number): Promise<LossyFront> {
  const keys: string[] = [];
  const pass = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    keys.push(String(req.headers['idempotency-key']));
    const { url: path, method, headers } = req;
    const onwards = request({ port: upstreamPort, host: '127.0.0.1', path, method, headers, agent: false });
    onwards.end(await buffer(req));
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      onwards.once('response', resolve).once('error', reject);
    });
    const body = await buffer(answer);
    if (keys.length <= losses) {
      req.socket.destroy();
      return;
    }
    res.writeHead(answer.statusCode ?? 500, answer.headers).end(body);
  };
  const server = createServer((req, res) => {
    pass(req, res).catch((error: unknown) => res.destroy(error instanceof Error ? error : undefined));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    keys,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
