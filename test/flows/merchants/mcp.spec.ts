import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { createApiKey, revokeApiKey } from '../../../shared/accounts/api-keys.js';
import { CheckoutSession } from '../../../shared/checkout-sessions/model.js';
import { Event } from '../../../shared/webhooks/model.js';
import { client, schemaValidator } from '../../support/api-client.js';
import { openCheckout } from '../../support/checkout.js';
import { forAllTests } from '../../support/hooks.js';
import { callText, connectAgent, type MerchantAgent, postMcp } from '../../support/mcp.js';
import { minimal } from '../../support/orders.js';

const HOOK = 'https://1.1.1.1/hooks';

describe("a merchant's agent over MCP", () => {
  const checkout = forAllTests(openCheckout);
  let agent: MerchantAgent;
  let key: string;
  before(async () => {
    key = checkout.merchant.testKey;
    agent = await connectAgent(checkout.app.port, key);
  });
  after(async () => {
    await agent.close();
  });

  const fits = (name: string, body: object): void => {
    const validate = schemaValidator(`#/components/schemas/${name}`);
    assert.ok(validate(body), JSON.stringify([validate.errors, body]));
  };

  it("gets the server's name, version and instructions when it connects", () => {
    const { name, version } = agent.sdk.getServerVersion() ?? {};
    assert.deepEqual([name, version], ['stablecoin-checkout', '2026-10-15']);
    assert.deepEqual(agent.sdk.getServerCapabilities(), { tools: {} });
    assert.match(
      agent.sdk.getInstructions() ?? '',
      /create_checkout_session.*"url".*retrieve_checkout_session/s,
    );
  });

  it('creates a session, and sees it complete once a stock agent has paid its link', async () => {
    const { body: made } = await agent.call('create_checkout_session', {
      ...minimal,
      client_reference_id: 'table-7',
      metadata: { waiter: 'Ada' },
    });
    fits('CheckoutSession', made);
    assert.deepEqual([made.status, made.payment_status, made.amount_total], ['open', 'unpaid', 450]);
    assert.equal((await agent.call('list_payments')).body.data.length, 0);

    const link = made.url.replace('https://pay.example', `http://127.0.0.1:${checkout.app.port}`);
    const buyer = privateKeyToAccount(generatePrivateKey());
    const wallet = new x402Client().register('eip155:*', new ExactEvmScheme(buyer));
    wallet.setSpendControls({ maxAmountPerPayment: '$100' });
    const paid = await wrapFetchWithPayment(fetch, wallet)(link);
    assert.equal(paid.status, 200);

    const { body: found } = await agent.call('retrieve_checkout_session', {
      id: made.id,
      expand: ['line_items'],
    });
    fits('CheckoutSession', found);
    assert.deepEqual([found.status, found.payment_status, found.url], ['complete', 'paid', null]);
    assert.equal(found.payment.payer.toLowerCase(), buyer.address.toLowerCase());
    assert.equal(found.line_items.data[0].description, 'Coffee');
    assert.deepEqual(found.metadata, { waiter: 'Ada' });

    const { body: payments } = await agent.call('list_payments', { limit: 1 });
    fits('PaymentList', payments);
    assert.equal(payments.data[0].checkout_session, made.id);
    const { body: listed } = await agent.call('list_checkout_sessions', { status: 'complete' });
    fits('CheckoutSessionList', listed);
    assert.deepEqual(
      listed.data.map(({ id }: { id: string }) => id),
      [made.id],
    );
    const late = await agent.call('expire_checkout_session', { id: made.id });
    assert.equal(late.body.error.code, 'checkout_session_not_open');
  });

  it('reads a list page by page', async () => {
    const made: string[] = [];
    for (let i = 0; i < 3; i++) made.unshift((await agent.call('create_checkout_session', minimal)).body.id);
    const first = await agent.call('list_checkout_sessions', { limit: 2 });
    const ids = ({ body }: typeof first): string[] => body.data.map(({ id }: { id: string }) => id);
    assert.deepEqual([ids(first), first.body.has_more], [made.slice(0, 2), true]);
    const second = await agent.call('list_checkout_sessions', { limit: 1, starting_after: made[1] });
    assert.deepEqual(ids(second), made.slice(2));
  });

  it('expires a session, with its event', async () => {
    const { body: made } = await agent.call('create_checkout_session', minimal);
    const { body: expired } = await agent.call('expire_checkout_session', { id: made.id });
    fits('CheckoutSession', expired);
    assert.deepEqual([expired.status, expired.url], ['expired', null]);
    assert.deepEqual(await checkout.events(made.id), ['checkout.session.expired']);
    assert.equal((await checkout.visit(made.id)).status, 410);
  });

  it('manages webhook endpoints', async () => {
    const { body: made } = await agent.call('create_webhook_endpoint', {
      url: HOOK,
      enabled_events: ['checkout.session.completed'],
    });
    fits('WebhookEndpoint', made);
    assert.match(made.secret, /^whsec_/);
    const { secret: _, ...shown } = made;
    const { id } = made;
    assert.deepEqual((await agent.call('retrieve_webhook_endpoint', { id })).body, shown);
    const { body: changed } = await agent.call('update_webhook_endpoint', {
      id,
      disabled: true,
      description: 'Till',
    });
    assert.deepEqual(changed, { ...shown, status: 'disabled', description: 'Till' });
    const { body: listed } = await agent.call('list_webhook_endpoints');
    fits('WebhookEndpointList', listed);
    assert.deepEqual(listed.data, [changed]);
    const { body: deleted } = await agent.call('delete_webhook_endpoint', { id });
    assert.deepEqual(deleted, { id, object: 'webhook_endpoint', deleted: true });
    assert.equal((await agent.call('retrieve_webhook_endpoint', { id })).body.error.code, 'resource_missing');
    assert.equal((await agent.call('delete_webhook_endpoint', { id })).body.error.code, 'resource_missing');
  });

  it('gets no details of an internal error', async () => {
    const failing = mock.method(checkout.app.secretBox, 'seal', () => {
      throw new Error('the insides');
    });
    try {
      const { body, isError, text } = await agent.call('create_webhook_endpoint', { url: HOOK });
      assert.equal(isError, true);
      assert.deepEqual([body.error.type, body.error.code], ['api_error', 'internal_error']);
      assert.doesNotMatch(text, /insides/);
      assert.equal(failing.mock.callCount(), 1);
    } finally {
      failing.mock.restore();
    }
    assert.deepEqual((await agent.call('list_webhook_endpoints')).body.data, []);
  });

  describe('with an idempotency_key', () => {
    it('gets the first answer again, byte for byte, and a refusal for other arguments', async () => {
      const args = { ...minimal, client_reference_id: 'once-1', idempotency_key: 'mcp-1' };
      const first = await agent.call('create_checkout_session', args);
      const again = await agent.call('create_checkout_session', args);
      assert.equal(again.text, first.text);
      const count = CheckoutSession.query(checkout.app.db).where({ clientReferenceId: 'once-1' });
      assert.equal(await count.resultSize(), 1);
      const other = await agent.call('create_checkout_session', { ...args, client_reference_id: 'once-2' });
      assert.deepEqual(
        [other.isError, other.body.error.type, other.body.error.code],
        [true, 'idempotency_error', 'idempotency_key_reused'],
      );
      const elsewhere = await agent.call('create_webhook_endpoint', { url: HOOK, idempotency_key: 'mcp-1' });
      assert.equal(elsewhere.body.error.code, 'idempotency_key_reused');
    });

    it('shares the key with the REST API, in both directions and with the same refusal', async () => {
      const api = client(checkout.app, key);
      const first = await api
        .post('/v1/checkout/sessions', minimal)
        .set('Idempotency-Key', 'mcp-2')
        .expect(200);
      const again = await agent.call('create_checkout_session', { ...minimal, idempotency_key: 'mcp-2' });
      assert.equal(again.text, first.text);

      const hook = await agent.call('create_webhook_endpoint', { url: HOOK, idempotency_key: 'mcp-3' });
      const replayed = await api
        .post('/v1/webhook_endpoints', { url: HOOK })
        .set('Idempotency-Key', 'mcp-3')
        .expect(200);
      assert.equal(replayed.text, hook.text);
      assert.equal(replayed.get('Idempotent-Replayed'), 'true');
      await agent.call('delete_webhook_endpoint', { id: hook.body.id });

      const args = { ...minimal, mode: 'payment' };
      const refused = await api
        .post('/v1/checkout/sessions', args)
        .set('Idempotency-Key', 'mcp-2')
        .expect(400);
      const { error } = (await agent.call('create_checkout_session', { ...args, idempotency_key: 'mcp-2' }))
        .body;
      assert.deepEqual({ ...error, request_id: '' }, { ...refused.body.error, request_id: '' });
    });

    it('makes one session in ten simultaneous calls', async () => {
      const args = { ...minimal, client_reference_id: 'at-once', idempotency_key: 'mcp-4' };
      const answers = await Promise.all(
        Array.from({ length: 10 }, async (_, i) => {
          const text = callText('create_checkout_session', JSON.stringify(args), i);
          const { body, headers } = await postMcp(checkout.app, key, text).expect(200);
          assert.equal(body.id, i);
          return [body.result.content[0].text, headers['idempotent-replayed']];
        }),
      );
      assert.equal(new Set(answers.map(([text]) => text)).size, 1);
      assert.equal(answers.filter(([, replayed]) => replayed === 'true').length, 9);
      const count = CheckoutSession.query(checkout.app.db).where({ clientReferenceId: 'at-once' });
      assert.equal(await count.resultSize(), 1);
    });

    it('expires a session once, with one event', async () => {
      const { body: made } = await agent.call('create_checkout_session', minimal);
      const args = { id: made.id, idempotency_key: 'mcp-5' };
      const first = await agent.call('expire_checkout_session', args);
      assert.equal((await agent.call('expire_checkout_session', args)).text, first.text);
      const { body } = await agent.call('expire_checkout_session', { id: made.id });
      assert.equal(body.error.code, 'checkout_session_not_open');
      assert.equal(await Event.query(checkout.app.db).where({ payableId: made.id }).resultSize(), 1);
    });

    it('stores nothing for a refused call: the same key works for the corrected one', async () => {
      const args = { ...minimal, idempotency_key: 'mcp-6' };
      const wrong = await agent.call('create_checkout_session', { ...args, success_url: 'thanks' });
      assert.equal(wrong.body.error.code, 'url_invalid');
      const right = await agent.call('create_checkout_session', args);
      assert.equal(right.isError, false);
    });

    it('gets a 401 instead of the stored answer once its checkout key is revoked', async () => {
      const { accountId } = checkout.merchant;
      const { key: row, secret } = await createApiKey(checkout.app.db, {
        accountId,
        livemode: false,
        name: 'Leaked',
      });
      const text = callText(
        'create_webhook_endpoint',
        JSON.stringify({ url: HOOK, idempotency_key: 'mcp-7' }),
      );
      const { body } = await postMcp(checkout.app, secret, text).expect(200);
      await revokeApiKey(checkout.app.db, row.id);
      const refused = await postMcp(checkout.app, secret, text).expect(401);
      assert.equal(refused.body.error.code, 'api_key_revoked');
      await agent.call('delete_webhook_endpoint', { id: body.result.structuredContent.id });
    });
  });
});
