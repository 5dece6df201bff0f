import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { gzipSync } from 'node:zlib';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import request from 'supertest';
import { MERCHANT_TOOLS } from '../../api/mcp/tools.js';
import { openApiDocument } from '../../api/v1/openapi.js';
import { newId } from '../../shared/ids.js';
import { createApiKey, revokeApiKey } from '../../shared/services/api-keys.js';
import { assertRefusal, assertUnauthenticated, client } from '../support/api-client.js';
import { openTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { buildMerchant, buildPaidSession, buildSession, type Merchant } from '../support/factories.js';
import { damage, damages, hostileValue, jsonText } from '../support/fuzz/hostile-values.js';
import { type Args, askRest, callText, connectAgent, type MerchantAgent, postMcp } from '../support/mcp.js';

const MINIMAL = { line_items: [{ price_data: { unit_amount: 450, product_data: { name: 'Coffee' } } }] };
const HOOK = { url: 'https://1.1.1.1/' };
const LIST_TOOLS = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });

interface Schema {
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
}
interface Operation {
  operationId: string;
  parameters: { name: string; in: string; description?: string; schema: Schema }[];
  requestBody?: { content: { 'application/json': { schema: Schema } } };
}
const document = JSON.parse(JSON.stringify(openApiDocument('https://pay.example'))) as {
  paths: Record<string, Record<string, Operation>>;
};

/** Operations that are no tools: what they show is in a session that is looked up; it takes another credential. */
const NO_TOOLS = ['listLineItems', 'createKey'];

describe('/mcp', () => {
  let app: TestApp;
  let shop: Merchant;
  let agent: MerchantAgent;
  before(async () => {
    app = await openTestApp();
    shop = await buildMerchant(app.db);
    agent = await connectAgent(app.port, shop.testKey);
  });
  after(async () => {
    await agent.close();
    await app.close();
  });

  describe('lists tools', () => {
    const operationOf = ({ method, path }: (typeof MERCHANT_TOOLS)[number]): Operation => {
      const operation = document.paths[`/v1${path}`]?.[method.toLowerCase()];
      assert.ok(operation, `${method} ${path} is not in the document`);
      return operation;
    };

    it('one for every operation that a merchant needs', () => {
      const tools = MERCHANT_TOOLS.map((tool) => operationOf(tool).operationId);
      const merchants = Object.entries(document.paths).filter(([path]) => path.startsWith('/v1/'));
      const operations = merchants.flatMap(([, methods]) =>
        Object.values(methods).map(({ operationId }) => operationId),
      );
      assert.deepEqual([...tools, ...NO_TOOLS].sort(), operations.sort());
    });

    it('whose parameters are those of the document', async () => {
      const { tools } = await agent.sdk.listTools();
      assert.deepEqual(
        tools.map(({ name }) => name),
        MERCHANT_TOOLS.map(({ name }) => name),
      );
      for (const [index, { name, inputSchema }] of tools.entries()) {
        const { parameters, requestBody } = operationOf(
          MERCHANT_TOOLS[index] as (typeof MERCHANT_TOOLS)[number],
        );
        const body = requestBody?.content['application/json'].schema;
        const { idempotency_key: once, ...found } = inputSchema.properties ?? {};
        const expected: Record<string, Schema> = { ...body?.properties };
        for (const parameter of parameters) {
          const { description, schema } = parameter;
          if (parameter.in === 'header') continue;
          expected[parameter.name.replace('[]', '')] = {
            ...schema,
            ...(description !== undefined && { description }),
          };
        }
        assert.deepEqual(found, expected, name);
        assert.equal(
          once !== undefined,
          parameters.some((parameter) => parameter.name === 'Idempotency-Key'),
          name,
        );
        assert.deepEqual(
          inputSchema.required,
          ['id', ...(body?.required ?? [])].filter((one) => Object.hasOwn(expected, one)),
          name,
        );
        assert.equal(inputSchema.additionalProperties, false);
      }
    });

    it('whose schemas a JSON Schema validator takes, and which take a sensible call', async () => {
      const ajv = new Ajv2020({ strict: false, validateFormats: false });
      const { tools } = await agent.sdk.listTools();
      const validators = new Map(tools.map(({ name, inputSchema }) => [name, ajv.compile(inputSchema)]));
      const takes = (name: string, args: Args): boolean | undefined => {
        const valid = validators.get(name)?.(args);
        return typeof valid === 'boolean' ? valid : undefined;
      };
      assert.equal(takes('create_checkout_session', { ...MINIMAL, idempotency_key: 'k' }), true);
      assert.equal(takes('create_checkout_session', {}), false);
      assert.equal(takes('retrieve_checkout_session', { id: 'cs_test_1' }), true);
      assert.equal(takes('retrieve_checkout_session', {}), false);
      assert.equal(takes('list_payments', {}), true);
      assert.equal(takes('list_payments', { idempotency_key: 'k' }), false);
    });

    it('and says which of them read, which add, and which change or end something', async () => {
      const { tools } = await agent.sdk.listTools();
      const hints = Object.fromEntries(
        tools.map(({ name, annotations }) => [
          name,
          [annotations?.readOnlyHint, annotations?.destructiveHint, annotations?.idempotentHint],
        ]),
      );
      const [reads, adds, changes] = [
        [true, false, true],
        [false, false, false],
        [false, true, true],
      ];
      assert.deepEqual(hints, {
        create_checkout_session: adds,
        retrieve_checkout_session: reads,
        list_checkout_sessions: reads,
        expire_checkout_session: changes,
        list_payments: reads,
        create_webhook_endpoint: adds,
        retrieve_webhook_endpoint: reads,
        list_webhook_endpoints: reads,
        update_webhook_endpoint: changes,
        delete_webhook_endpoint: changes,
      });
      for (const { description = '' } of tools) assert.match(description, /^\S+ .{80,}\.$/s);
    });
  });

  describe('answers a call as /v1 answers the same request', () => {
    let ids: { open: string; paid: string; endpoint: string };
    before(async () => {
      const { id: open } = await buildSession(app.db, shop.accountId);
      const { session } = await buildPaidSession(app.db, shop.accountId);
      const endpoint = await client(app, shop.testKey).post('/v1/webhook_endpoints', HOOK).expect(200);
      ids = { open, paid: session.id, endpoint: endpoint.body.id };
    });

    /** Status and whole body, but for the request's id; the tool's answer holds them as result and as text. */
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

    const CREATES: Record<string, [args: object, code: string]> = {
      nothing: [{}, 'parameter_missing'],
      'no items': [{ line_items: [] }, 'parameter_missing'],
      'too many items': [{ line_items: Array(101).fill(item({})) }, 'parameter_invalid'],
      'items that are none': [{ line_items: 'coffee' }, 'parameter_invalid'],
      'items that are null': [{ line_items: null }, 'parameter_invalid_empty'],
      'an item that is null': [{ line_items: [null] }, 'parameter_invalid_empty'],
      'no price': [{ line_items: [{}] }, 'parameter_missing'],
      'no amount': [price({ unit_amount: undefined }), 'parameter_missing'],
      'an amount of text': [price({ unit_amount: '450' }), 'parameter_invalid_integer'],
      'an amount with a fraction': [price({ unit_amount: 4.5 }), 'parameter_invalid_integer'],
      'a negative amount': [price({ unit_amount: -1 }), 'parameter_invalid_integer'],
      'an amount that is too large': [price({ unit_amount: 100_000_000 }), 'parameter_invalid_integer'],
      'both amounts': [price({ unit_amount_decimal: '450' }), 'parameters_exclusive'],
      'an amount that is no digits': [
        price({ unit_amount: undefined, unit_amount_decimal: '4.5' }),
        'parameter_invalid_integer',
      ],
      'another currency': [price({ currency: 'eur' }), 'parameter_invalid_enum'],
      'no name': [product({ name: undefined }), 'parameter_missing'],
      'an empty name': [product({ name: '' }), 'parameter_invalid_empty'],
      'a name that is too long': [product({ name: 'x'.repeat(251) }), 'parameter_invalid_string'],
      'a name with U+0000': [product({ name: 'a\0b' }), 'parameter_invalid_string'],
      'a name with half a character': [product({ name: 'a\ud800' }), 'parameter_invalid_string'],
      'a name that is a number': [product({ name: 5 }), 'parameter_invalid'],
      'a picture without TLS': [product({ images: ['http://shop.example/a.png'] }), 'url_invalid'],
      'too many pictures': [
        product({ images: Array(9).fill('https://shop.example/a.png') }),
        'parameter_invalid',
      ],
      'a quantity of none': [item({ quantity: 0 }), 'parameter_invalid_integer'],
      'a total that is too large': [
        {
          line_items: Array(100).fill({
            price_data: { unit_amount: 99_999_999, product_data: { name: 'C' } },
            quantity: 999_999,
          }),
        },
        'amount_too_large',
      ],
      'another mode': [{ ...MINIMAL, mode: 'subscription' }, 'parameter_invalid_enum'],
      'a way back that is no URL': [{ ...MINIMAL, success_url: 'thanks' }, 'url_invalid'],
      'a way back with a script': [{ ...MINIMAL, cancel_url: 'javascript:alert(1)' }, 'url_invalid'],
      'an e-mail address that is none': [{ ...MINIMAL, customer_email: 'me' }, 'email_invalid'],
      'metadata that is text': [{ ...MINIMAL, metadata: 'a' }, 'parameter_invalid'],
      'metadata with a number': [{ ...MINIMAL, metadata: { a: 1 } }, 'parameter_invalid'],
      'a metadata key that is too long': [
        { ...MINIMAL, metadata: { ['k'.repeat(41)]: 'v' } },
        'parameter_invalid_string',
      ],
      'an end in the past': [{ ...MINIMAL, expires_at: 1_000_000_000 }, 'parameter_invalid_integer'],
      'an end that is text': [{ ...MINIMAL, expires_at: 'tomorrow' }, 'parameter_invalid_integer'],
      'an unknown parameter': [{ ...MINIMAL, colour: 'red' }, 'parameter_unknown'],
      'an unknown parameter inside': [product({ colour: 'red' }), 'parameter_unknown'],
      'an id, which it does not take': [{ ...MINIMAL, id: 'cs_test_1' }, 'parameter_unknown'],
      'something to expand that is not there': [
        { ...MINIMAL, expand: ['payment'] },
        'parameter_invalid_enum',
      ],
      'an idempotency key that is too long': [
        { ...MINIMAL, idempotency_key: 'k'.repeat(256) },
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
      ['list_payments', () => ({ status: 'failed' }), 'parameter_unknown'],
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

    it('without an id, or one that is no text: of this there is no REST request', async () => {
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

    it('with an idempotency key where nothing is done: it is no parameter there', async () => {
      for (const { name, method, id } of MERCHANT_TOOLS) {
        if (method === 'POST') continue;
        const args = { ...(id !== undefined && { id: newId('we_') }), idempotency_key: 'k' };
        const { error } = (await agent.call(name, args)).body;
        assert.deepEqual([error.code, error.param], ['parameter_unknown', 'idempotency_key'], name);
      }
    });

    it('with an idempotency key that no header could hold', async () => {
      const code = async (key: unknown): Promise<string> => {
        const { body } = await agent.call('create_checkout_session', { ...MINIMAL, idempotency_key: key });
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

    it('whatever JSON the arguments are: 300 of them that were damaged', async () => {
      const good = {
        ...MINIMAL,
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
        if (rest.body.error?.code === 'malformed_body') {
          assert.ok(answer.status === 400 || answer.body.error !== undefined, text.slice(0, 300));
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

    it('with names that mean something to JavaScript', async () => {
      for (const name of ['__proto__', 'constructor', 'toString', '']) {
        const text = JSON.stringify(MINIMAL).replace('{', `{${JSON.stringify(name)}:1,`);
        const rest = await client(app, shop.testKey).post('/v1/checkout/sessions', text).expect(400);
        const { body } = await postMcp(app, shop.testKey, callText('create_checkout_session', text));
        const { request_id: _, ...error } = body.result.structuredContent.error;
        assert.deepEqual({ ...error, request_id: rest.body.error.request_id }, rest.body.error);
        assert.equal(error.code, 'parameter_unknown');
      }
    });
  });

  describe('without a good key answers 401 as /v1 does', () => {
    it('to no key, a wrong one, a revoked one, whatever else is asked or wrong', async () => {
      const { key, secret } = await createApiKey(app.db, {
        accountId: shop.accountId,
        livemode: false,
        name: 'Leaked',
      });
      await postMcp(app, secret, LIST_TOOLS).expect(200);
      await revokeApiKey(app.db, key.id);
      const call = callText('create_checkout_session', JSON.stringify(MINIMAL));
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

    it('and the SDK’s client says so', async () => {
      await assert.rejects(connectAgent(app.port, 'svc_ck_test_wrong'), /api_key_invalid/);
    });

    it('takes the key as a Basic user name too', async () => {
      await postMcp(app, undefined, LIST_TOOLS).auth(shop.testKey, '').expect(200);
    });
  });

  describe('answers what is no MCP message', () => {
    const asRest = (status: number, code: string) => ({ status, code });
    const asRpc = (status: number, code: number) => ({ status, code });
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const CASES: Record<
      string,
      {
        body: string | Buffer;
        headers?: Record<string, string>;
        answer: { status: number; code: number | string };
      }
    > = {
      'no JSON': { body: '{"jsonrpc":', answer: asRest(400, 'malformed_body') },
      'bytes that are no text': { body: Buffer.from([0xff, 0xfe]), answer: asRest(400, 'malformed_body') },
      'a batch': { body: `[${LIST_TOOLS},${LIST_TOOLS}]`, answer: asRest(400, 'malformed_body') },
      'a number': { body: '5', answer: asRest(400, 'malformed_body') },
      null: { body: 'null', answer: asRest(400, 'malformed_body') },
      'a form': {
        body: 'jsonrpc=2.0&id=1&method=ping',
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
        answer: asRest(400, 'unsupported_content_type'),
      },
      'plain text': {
        body: LIST_TOOLS,
        headers: { 'Content-Type': 'text/plain' },
        answer: asRest(400, 'unsupported_content_type'),
      },
      'another JSON type': {
        body: LIST_TOOLS,
        headers: { 'Content-Type': 'application/x+json' },
        answer: asRpc(415, -32_000),
      },
      'an unknown encoding': {
        body: LIST_TOOLS,
        headers: { 'Content-Encoding': 'zip' },
        answer: asRest(400, 'unsupported_content_type'),
      },
      'more than 4 MiB': {
        body: `{"x":"${'x'.repeat(4 * 1024 * 1024)}"}`,
        answer: asRest(400, 'body_too_large'),
      },
      'more than 4 MiB, packed': {
        body: gzipSync(`{"x":"${'x'.repeat(4 * 1024 * 1024)}"}`),
        headers: { 'Content-Encoding': 'gzip' },
        answer: asRest(400, 'body_too_large'),
      },
      nothing: { body: '', answer: asRpc(400, -32_700) },
      'an empty object': { body: '{}', answer: asRpc(400, -32_700) },
      'an older JSON-RPC': { body: '{"jsonrpc":"1.0","id":1,"method":"ping"}', answer: asRpc(400, -32_700) },
      'an id that is none': {
        body: '{"jsonrpc":"2.0","id":{},"method":"ping"}',
        answer: asRpc(400, -32_700),
      },
      'an infinite id': { body: '{"jsonrpc":"2.0","id":1e400,"method":"ping"}', answer: asRpc(400, -32_700) },
      'a method that is none': { body: '{"jsonrpc":"2.0","id":1,"method":5}', answer: asRpc(400, -32_700) },
      'deep nesting': {
        body: `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":${deep}}}`,
        answer: asRpc(200, 0),
      },
      'deep nesting instead of a message': { body: deep, answer: asRest(400, 'malformed_body') },
      'an unknown method': {
        body: '{"jsonrpc":"2.0","id":1,"method":"resources/list"}',
        answer: asRpc(200, -32_601),
      },
      'a method of an object': {
        body: '{"jsonrpc":"2.0","id":1,"method":"__proto__"}',
        answer: asRpc(200, -32_601),
      },
      'a call of nothing': {
        body: '{"jsonrpc":"2.0","id":1,"method":"tools/call"}',
        answer: asRpc(200, -32_603),
      },
      'an unknown tool': { body: callText('pay', '{}'), answer: asRpc(200, -32_602) },
      'a tool of an object': { body: callText('constructor', '{}'), answer: asRpc(200, -32_602) },
      'arguments that are none': { body: callText('list_payments', '[]'), answer: asRpc(200, -32_603) },
      'a call as a task': {
        body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_payments","task":{}}}',
        answer: asRpc(200, -32_603),
      },
      'an unknown version': {
        body: LIST_TOOLS,
        headers: { 'MCP-Protocol-Version': '1999-01-01' },
        answer: asRpc(400, -32_000),
      },
      'JSON that may not come back as JSON': {
        body: LIST_TOOLS,
        headers: { Accept: 'text/event-stream' },
        answer: asRpc(406, -32_000),
      },
      'JSON for a browser': {
        body: LIST_TOOLS,
        headers: { Accept: 'text/html' },
        answer: asRpc(406, -32_000),
      },
    };
    for (const [what, { body, headers = {}, answer }] of Object.entries(CASES)) {
      it(`${what}: ${answer.status} ${answer.code || 'fine'}`, async () => {
        const res = await postMcp(app, shop.testKey, body).set(headers);
        assert.equal(res.status, answer.status, res.text);
        if (typeof answer.code === 'string') {
          assertRefusal(res, answer.status, { type: 'invalid_request_error', code: answer.code });
        } else {
          assert.equal(res.body.jsonrpc, '2.0');
          assert.equal(res.body.error?.code ?? 0, answer.code, res.text);
          assert.doesNotMatch(res.text, /\bat \S+:\d+|node_modules/);
        }
        assert.equal(res.get('Content-Type'), 'application/json; charset=utf-8');
        assert.equal(res.get('Cache-Control'), 'no-store');
        assert.match(res.get('Request-Id') ?? '', /^req_/);
      });
    }

    it('a call with deep arguments, as /v1 answers them', async () => {
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

    it('a notification or an answer, with 202 and nothing more', async () => {
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
        assertRefusal(res, 405, { type: 'invalid_request_error', code: 'method_not_allowed' });
        assert.equal(res.get('Allow'), 'POST');
      }
      const res = await request(app.server)
        .post('/mcp/sessions')
        .set({ Authorization: `Bearer ${shop.testKey}` });
      assertRefusal(res, 404, { type: 'invalid_request_error', code: 'unknown_path' });
    });

    it('and counts it by its path and status, as it does whatever a tool came to', async () => {
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

    it('no other origin: there is no CORS header, as under /v1', async () => {
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

describe('the rate limit at /mcp', () => {
  const PER_SECOND = 3;
  const SHARE = 2 * PER_SECOND;
  let apps: TestApp[];
  let app: TestApp;
  before(async () => {
    const environment = { REDIS_URL: '', RATE_LIMIT_API_PER_SECOND: String(PER_SECOND) };
    apps = [await openTestApp(environment), await openTestApp(environment)];
    [app] = apps as [TestApp];
  });
  // So that no window ends by itself.
  beforeEach(() => {
    const stoppedAt = Date.now();
    mock.method(Date, 'now', () => stoppedAt);
  });
  afterEach(() => mock.restoreAll());
  after(() => Promise.all(apps.map((one) => one.close())));

  const CALL = callText('list_payments', '{}');

  it('is the one of /v1: requests there and here, over all processes, are counted together', async () => {
    const { testKey, liveKey } = await buildMerchant(app.db);
    for (let i = 0; i < SHARE; i++) {
      const one = apps[i % 2] as TestApp;
      if (i < 3) await postMcp(one, testKey, CALL).expect(200);
      else await client(one, testKey).get('/v1/payments').expect(200);
    }
    assertRefusal(await client(app, testKey).get('/v1/payments'), 429, {
      type: 'invalid_request_error',
      code: 'rate_limit',
    });
    const limited = await postMcp(app, testKey, CALL).expect(200);
    const { body } = limited;
    assert.match(limited.get('Retry-After') ?? '', /^[1-9][0-9]*$/);
    assert.equal(body.result.isError, true);
    const { request_id: _, ...error } = body.result.structuredContent.error;
    const rest = await client(app, testKey).get('/v1/payments');
    assert.deepEqual({ ...error, request_id: rest.body.error.request_id }, rest.body.error);
    const live = await postMcp(app, liveKey, CALL);
    assert.equal(live.body.result.isError, undefined, 'the other mode has a share of its own');
  });

  it('counts every request once, whatever it is, and refuses what is no call with 429', async () => {
    const { testKey } = await buildMerchant(app.db);
    await postMcp(app, testKey, LIST_TOOLS).expect(200);
    await postMcp(app, testKey, callText('pay', '{}')).expect(200);
    await postMcp(app, testKey, callText('create_checkout_session', '{}')).expect(200);
    await postMcp(app, testKey, '{').expect(400);
    await postMcp(app, testKey, LIST_TOOLS).set('Accept', 'text/html').expect(406);
    await request(app.server).get('/mcp').set('Authorization', `Bearer ${testKey}`).expect(405);
    assertRefusal(await postMcp(app, testKey, LIST_TOOLS), 429, {
      type: 'invalid_request_error',
      code: 'rate_limit',
    });
    const made = await postMcp(app, testKey, callText('create_checkout_session', JSON.stringify(MINIMAL)));
    assert.equal(made.body.result.structuredContent.error.code, 'rate_limit');
  });

  it('is told to an agent as the result of its call', async () => {
    const { testKey } = await buildMerchant(app.db);
    const agent = await connectAgent(app.port, testKey);
    try {
      const codes: (string | undefined)[] = [];
      for (let i = 0; i < SHARE; i++) codes.push((await agent.call('list_payments')).body.error?.code);
      assert.equal(codes[0], undefined);
      assert.equal(codes.at(-1), 'rate_limit');
    } finally {
      await agent.close();
    }
  });
});
