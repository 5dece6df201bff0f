import assert from 'node:assert/strict';
import fc from 'fast-check';
import { MERCHANT_TOOLS } from '../../api/mcp/tools.js';
import { buildMerchant, buildPaidSession, buildSession } from '../../lab/world/shop/factories.js';
import { newId } from '../../shared/values/ids.js';
import { client } from '../support/api-client.js';
import { openTestApp } from '../support/app.js';
import { damage, damages, hostileValue, jsonText } from '../support/fuzz/hostile-values.js';
import { forAllTests } from '../support/hooks.js';
import { type Args, askRest, callText, connectAgent, postMcp } from '../support/mcp.js';
import { minimal } from '../support/orders.js';

const HOOK = { url: 'https://1.1.1.1/' };

describe('/mcp', () => {
  const app = forAllTests(openTestApp);
  const shop = forAllTests(() => buildMerchant(app.db));
  const agent = forAllTests(() => connectAgent(app.port, shop.testKey));

  describe('answers a call like the same request to /v1', () => {
    let ids: { open: string; paid: string; endpoint: string };
    before(async () => {
      const { id: open } = await buildSession(app.db, shop.accountId);
      const { session } = await buildPaidSession(app.db, shop.accountId);
      const endpoint = await client(app, shop.testKey).post('/v1/webhook_endpoints', HOOK).expect(200);
      ids = { open, paid: session.id, endpoint: endpoint.body.id };
    });

    /** Status and body, without the request id; a tool returns the body as structured content and as text. */
    async function assertSame(name: string, args: Args): Promise<string | undefined> {
      const rest = await askRest(app, shop.testKey, name, args);
      const tool = await agent.call(name, args);
      const strip = ({ error, ...body }: Args & { error?: Args }): object =>
        error === undefined ? body : { error: { ...error, request_id: '' } };
      assert.deepEqual(strip(tool.body), strip(rest.body), `${name} ${JSON.stringify(args).slice(0, 500)}`);
      assert.equal(tool.isError, rest.status !== 200);
      return rest.body.error?.code;
    }

    const item = (changes: object): object => ({
      line_items: [{ price_data: { unit_amount: 450, product_data: { name: 'Coffee' } }, ...changes }],
    });
    const price = (changes: object): object =>
      item({ price_data: { unit_amount: 450, product_data: { name: 'C' }, ...changes } });
    const product = (changes: object): object => price({ product_data: { name: 'C', ...changes } });

    /** Each code has one example here; the damaged arguments below have the rest. */
    const CREATES: Record<string, [args: object, code: string]> = {
      nothing: [{}, 'parameter_missing'],
      'too many items': [{ line_items: Array(101).fill(item({})) }, 'parameter_invalid'],
      'items that are null': [{ line_items: null }, 'parameter_invalid_empty'],
      'an amount that is text': [price({ unit_amount: '450' }), 'parameter_invalid_integer'],
      'both amounts': [price({ unit_amount_decimal: '450' }), 'parameters_exclusive'],
      'another currency': [price({ currency: 'eur' }), 'parameter_invalid_enum'],
      'a name with U+0000': [product({ name: 'a\0b' }), 'parameter_invalid_string'],
      'a name with a lone surrogate': [product({ name: 'a\ud800' }), 'parameter_invalid_string'],
      'an image URL without TLS': [product({ images: ['http://shop.example/a.png'] }), 'url_invalid'],
      'a total that is too large': [
        {
          line_items: Array(100).fill({
            price_data: { unit_amount: 99_999_999, product_data: { name: 'C' } },
            quantity: 999_999,
          }),
        },
        'amount_too_large',
      ],
      'an invalid e-mail address': [{ ...minimal, customer_email: 'me' }, 'email_invalid'],
      'an expiry in the past': [{ ...minimal, expires_at: 1_000_000_000 }, 'parameter_invalid_integer'],
      'an unknown nested parameter': [product({ colour: 'red' }), 'parameter_unknown'],
      'an unexpected id': [{ ...minimal, id: 'cs_test_1' }, 'parameter_unknown'],
      'an idempotency key that is too long': [
        { ...minimal, idempotency_key: 'k'.repeat(256) },
        'idempotency_key_invalid',
      ],
    };
    for (const [what, [args, code]] of Object.entries(CREATES)) {
      it(`create_checkout_session with ${what}: ${code}`, async () => {
        const plain = JSON.parse(JSON.stringify(args));
        assert.equal(await assertSame('create_checkout_session', plain), code);
      });
    }

    const OTHERS: [name: string, args: () => Args, code: string | undefined][] = [
      ['retrieve_checkout_session', () => ({ id: ids.open }), undefined],
      ['retrieve_checkout_session', () => ({ id: ids.paid, expand: ['line_items'] }), undefined],
      ['retrieve_checkout_session', () => ({ id: newId('cs_test_') }), 'resource_missing'],
      ['retrieve_checkout_session', () => ({ id: 'cs_test_1/../../payments' }), 'resource_missing'],
      ['retrieve_checkout_session', () => ({ id: '$&$1%00%' }), 'resource_missing'],
      ['retrieve_checkout_session', () => ({ id: '..' }), 'resource_missing'],
      ['retrieve_checkout_session', () => ({ id: 'x'.repeat(20_000) }), 'resource_missing'],
      ['retrieve_checkout_session', () => ({ id: ids.endpoint }), 'resource_missing'],
      ['retrieve_checkout_session', () => ({ id: ids.open, expand: ['payment'] }), 'parameter_invalid_enum'],
      ['retrieve_checkout_session', () => ({ id: ids.open, limit: 1 }), 'parameter_unknown'],
      ['list_checkout_sessions', () => ({}), undefined],
      ['list_checkout_sessions', () => ({ limit: 1, expand: ['data.line_items'] }), undefined],
      ['list_checkout_sessions', () => ({ status: 'complete', limit: null, starting_after: '' }), undefined],
      ['list_checkout_sessions', () => ({ created: { gte: 1, lt: 2 } }), undefined],
      ['list_checkout_sessions', () => ({ created: 5 }), undefined],
      ['list_checkout_sessions', () => ({ starting_after: ids.paid }), undefined],
      ['list_checkout_sessions', () => ({ starting_after: newId('cs_test_') }), 'resource_missing'],
      ['list_checkout_sessions', () => ({ ending_before: 'a b&limit=1' }), 'resource_missing'],
      [
        'list_checkout_sessions',
        () => ({ starting_after: ids.open, ending_before: ids.paid }),
        'parameters_exclusive',
      ],
      ['list_checkout_sessions', () => ({ limit: 0 }), 'parameter_invalid_integer'],
      ['list_checkout_sessions', () => ({ limit: 101 }), 'parameter_invalid_integer'],
      ['list_checkout_sessions', () => ({ limit: 1.5 }), 'parameter_invalid_integer'],
      ['list_checkout_sessions', () => ({ limit: true }), 'parameter_invalid_integer'],
      ['list_checkout_sessions', () => ({ limit: [1] }), 'parameter_invalid_integer'],
      ['list_checkout_sessions', () => ({ limit: 'ten' }), 'parameter_invalid_integer'],
      ['list_checkout_sessions', () => ({ status: 'processing' }), 'parameter_invalid_enum'],
      ['list_checkout_sessions', () => ({ created: { since: 5 } }), 'parameter_unknown'],
      ['list_checkout_sessions', () => ({ created: 'yesterday' }), 'parameter_invalid_integer'],
      ['list_checkout_sessions', () => ({ created: 1e15 }), 'parameter_invalid_integer'],
      ['list_checkout_sessions', () => ({ page: 2 }), 'parameter_unknown'],
      ['expire_checkout_session', () => ({ id: ids.paid }), 'checkout_session_not_open'],
      ['expire_checkout_session', () => ({ id: newId('cs_test_') }), 'resource_missing'],
      ['expire_checkout_session', () => ({ id: ids.open, reason: 'x' }), 'parameter_unknown'],
      ['list_payments', () => ({}), undefined],
      ['list_payments', () => ({ limit: 101 }), 'parameter_invalid_integer'],
      ['list_payments', () => ({ starting_after: newId('pay_') }), 'resource_missing'],
      ['list_payments', () => ({ state: 'failed' }), 'parameter_unknown'],
      ['create_webhook_endpoint', () => ({}), 'parameter_missing'],
      ['create_webhook_endpoint', () => ({ url: '' }), 'parameter_invalid_empty'],
      ['create_webhook_endpoint', () => ({ url: 'shop.example' }), 'url_invalid'],
      ['create_webhook_endpoint', () => ({ url: 'http://127.0.0.1/' }), 'url_invalid'],
      ['create_webhook_endpoint', () => ({ url: 'https://me:pw@1.1.1.1/' }), 'url_invalid'],
      ['create_webhook_endpoint', () => ({ ...HOOK, enabled_events: ['paid'] }), 'parameter_invalid_enum'],
      ['create_webhook_endpoint', () => ({ ...HOOK, secret: 'mine' }), 'parameter_unknown'],
      ['retrieve_webhook_endpoint', () => ({ id: ids.endpoint }), undefined],
      ['retrieve_webhook_endpoint', () => ({ id: newId('we_') }), 'resource_missing'],
      ['retrieve_webhook_endpoint', () => ({ id: ids.endpoint, expand: ['x'] }), 'parameter_unknown'],
      ['list_webhook_endpoints', () => ({}), undefined],
      ['list_webhook_endpoints', () => ({ limit: -1 }), 'parameter_invalid_integer'],
      ['update_webhook_endpoint', () => ({ id: ids.endpoint, description: 'Till' }), undefined],
      ['update_webhook_endpoint', () => ({ id: ids.endpoint, description: null }), undefined],
      ['update_webhook_endpoint', () => ({ id: ids.endpoint, url: null }), 'parameter_invalid_empty'],
      ['update_webhook_endpoint', () => ({ id: ids.endpoint, disabled: 'yes' }), 'parameter_invalid'],
      ['update_webhook_endpoint', () => ({ id: newId('we_'), disabled: true }), 'resource_missing'],
      ['delete_webhook_endpoint', () => ({ id: newId('we_') }), 'resource_missing'],
      ['delete_webhook_endpoint', () => ({ id: ids.endpoint, now: true }), 'parameter_unknown'],
    ];
    for (const [name, args, code] of OTHERS) {
      it(`${name}${String(args).replace('() =>', '')}: ${code ?? 'fine'}`.slice(0, 150), async () => {
        assert.equal(await assertSame(name, args()), code);
      });
    }

    it('without an id, or with one that is not a string, which no REST request can have', async () => {
      const code = async (args: Args): Promise<string> => {
        const { body } = await agent.call('retrieve_checkout_session', args);
        return `${body.error.code} ${body.error.param}`;
      };
      assert.equal(await code({}), 'parameter_missing id');
      assert.equal(await code({ id: '' }), 'parameter_invalid_empty id');
      assert.equal(await code({ id: null }), 'parameter_invalid_empty id');
      assert.equal(await code({ id: 5 }), 'parameter_invalid id');
      assert.equal(await code({ id: ['cs_test_1'] }), 'parameter_invalid id');
      assert.equal(await code({ id: 'a\0' }), 'parameter_invalid_string id');
      assert.equal(await code({ id: '\udfff' }), 'parameter_invalid_string id');
    });

    it('with an idempotency key where nothing is written: unknown parameter', async () => {
      for (const { name, method, id } of MERCHANT_TOOLS) {
        if (method === 'POST') continue;
        const needed = name === 'retrieve_daily_reports' && { from: '2026-11-01', to: '2026-11-30' };
        const args = { ...(id !== undefined && { id: newId('we_') }), ...needed, idempotency_key: 'k' };
        const { error } = (await agent.call(name, args)).body;
        assert.deepEqual([error.code, error.param], ['parameter_unknown', 'idempotency_key'], name);
      }
    });

    it('with an idempotency key that is not a valid header value', async () => {
      const code = async (key: unknown): Promise<string> => {
        const { body } = await agent.call('create_checkout_session', { ...minimal, idempotency_key: key });
        return body.error === undefined ? body.object : `${body.error.code} ${body.error.param}`;
      };
      assert.equal(await code(5), 'parameter_invalid idempotency_key');
      assert.equal(await code({}), 'parameter_invalid idempotency_key');
      assert.equal(await code('a\0'), 'parameter_invalid_string idempotency_key');
      assert.equal(await code('\ud800'), 'parameter_invalid_string idempotency_key');
      assert.equal(await code(''), 'checkout.session');
      assert.equal(await code(null), 'checkout.session');
      assert.equal(await code('schlüssel 🔑\n'), 'checkout.session');
    });

    it('with 300 damaged JSON arguments', async () => {
      const good = {
        ...minimal,
        metadata: { order: '1' },
        success_url: 'https://shop.example/thanks',
        customer_email: 'me@shop.example',
        expand: ['line_items'],
      };
      const texts = fc.oneof(
        { weight: 4, arbitrary: damages.map((changes) => jsonText(damage(good, changes))) },
        { weight: 1, arbitrary: hostileValue.map((value) => jsonText({ ...good, line_items: value })) },
        { weight: 1, arbitrary: hostileValue.map((value) => jsonText({ ...good, __proto__x: value })) },
      );
      const seen = new Set<string>();
      for (const text of fc.sample(texts, { numRuns: 300, seed: 20_261_122 })) {
        const rest = await client(app, shop.testKey).post('/v1/checkout/sessions', text);
        const answer = await postMcp(app, shop.testKey, callText('create_checkout_session', text));
        if (['malformed_body', 'body_too_large'].includes(rest.body.error?.code)) {
          // Null is no body under /v1; here it counts as no arguments, and some are required.
          const { error, result } = answer.body;
          assert.ok(
            answer.status === 400 || error !== undefined || result.isError === true,
            text.slice(0, 300),
          );
          continue;
        }
        assert.equal(answer.status, 200, text.slice(0, 300));
        const { code, message, param } = rest.body.error ?? {};
        const { error = {} } = answer.body.result.structuredContent;
        assert.deepEqual(
          [error.code, error.message, error.param],
          [code, message, param],
          text.slice(0, 300),
        );
        assert.equal(answer.body.result.isError ?? false, rest.status !== 200);
        seen.add(code);
      }
      assert.ok(seen.size > 5, [...seen].join());
    });

    it('with names that are special in JavaScript', async () => {
      for (const name of ['__proto__', 'constructor', 'toString', '']) {
        const text = JSON.stringify(minimal).replace('{', `{${JSON.stringify(name)}:1,`);
        const rest = await client(app, shop.testKey).post('/v1/checkout/sessions', text).expect(400);
        const { body } = await postMcp(app, shop.testKey, callText('create_checkout_session', text));
        const { request_id: _, ...error } = body.result.structuredContent.error;
        assert.deepEqual({ ...error, request_id: rest.body.error.request_id }, rest.body.error);
        assert.equal(error.code, 'parameter_unknown');
      }
    });
  });
});
