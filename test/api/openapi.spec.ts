import assert from 'node:assert/strict';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import request from 'supertest';
import { openApiDocument } from '../../api/openapi/document.js';
import { buildMerchant, buildPaidSession, buildSession } from '../../lab/world/shop/factories.js';
import {
  answeredOperations,
  buildSigner,
  client,
  documentedOperations,
  schemaValidator,
  signToken,
} from '../support/api-client.js';
import { OBJECT_FIELDS, OPERATION_STATUSES } from '../support/api-shape.js';
import { openTestApp } from '../support/app.js';
import { forAllTests } from '../support/hooks.js';

interface Schema {
  type?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  [keyword: string]: unknown;
}
interface OperationObject {
  operationId: string;
  security?: object[];
  parameters: { name: string; in: string; required?: boolean; schema: Schema }[];
  requestBody?: { required: boolean; content: Record<string, { schema: Schema }> };
  responses: Record<string, { headers: object; content: Record<string, { schema: { $ref: string } }> }>;
}
interface Document {
  openapi: string;
  info: { version: string };
  servers: { url: string }[];
  paths: Record<string, Record<string, OperationObject>>;
  components: { schemas: Record<string, Schema>; securitySchemes: Record<string, object> };
}

describe('/openapi.json', () => {
  const app = forAllTests(openTestApp);
  const shop = forAllTests(() => buildMerchant(app.db));
  const api = forAllTests(() => client(app, shop.testKey));
  let document: Document;
  before(async () => {
    const res = await request(app.server).get('/openapi.json').expect(200);
    document = res.body;
  });

  const allOperations = (): [name: string, operation: OperationObject][] =>
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]): [string, OperationObject] => [
        `${method.toUpperCase()} ${path}`,
        operation,
      ]),
    );
  /** Paths of the merchant API. */
  const operationsOf = () => allOperations().filter(([name]) => name.includes(' /v1/'));

  it('is valid OpenAPI 3.1', async () => {
    const result = await new Validator().validate({ ...structuredClone(document) });
    assert.deepEqual(result.errors ?? [], []);
    assert.equal(result.valid, true);
    assert.equal(document.openapi, '3.1.0');
  });

  it('needs no key, and names the version and the base URL', async () => {
    assert.equal(document.info.version, '2026-10-15');
    assert.deepEqual(document.servers, [{ url: 'https://pay.example' }]);
    assert.deepEqual(document, JSON.parse(JSON.stringify(openApiDocument('https://pay.example'))));
  });

  it('lists every operation with its statuses', () => {
    const listed = Object.fromEntries(
      operationsOf().map(([name, { responses }]) => [name, Object.keys(responses).map(Number)]),
    );
    assert.deepEqual(listed, OPERATION_STATUSES);
    const ids = allOperations().map(([, { operationId }]) => operationId);
    assert.equal(new Set(ids).size, ids.length);
  });

  it('declares Error for every error response, and Request-Id for every response', () => {
    for (const [name, { responses }] of operationsOf()) {
      for (const [status, { headers, content }] of Object.entries(responses)) {
        assert.ok('Request-Id' in headers, name);
        const ref = content['application/json']?.schema.$ref;
        assert.equal(ref === '#/components/schemas/Error', status !== '200', `${name} ${status}`);
      }
    }
  });

  it('accepts bodies as JSON and as forms with one schema, and an Idempotency-Key on every POST', () => {
    for (const [name, { requestBody, parameters }] of operationsOf()) {
      const isPost = name.startsWith('POST ');
      assert.equal(requestBody !== undefined, isPost, name);
      assert.equal(
        parameters.some((parameter) => parameter.name === 'Idempotency-Key' && parameter.in === 'header'),
        isPost,
        name,
      );
      if (requestBody === undefined) continue;
      const schemas = Object.entries(requestBody.content);
      assert.deepEqual(
        schemas.map(([type]) => type),
        ['application/json', 'application/x-www-form-urlencoded'],
      );
      assert.deepEqual(schemas[0]?.[1], schemas[1]?.[1]);
    }
  });

  it('requires a checkout key everywhere, and a facilitator token on POST /v1/keys', () => {
    for (const [name, { security }] of operationsOf()) {
      const expected = name === 'POST /v1/keys' ? [{ facilitatorToken: [] }] : undefined;
      assert.deepEqual(security, expected, name);
    }
  });

  it('lists the routes without authentication, with every status of a payment link', () => {
    const listed = allOperations()
      .filter(([name]) => !name.includes(' /v1/'))
      .map(([name, { security, responses }]) => [name, security, Object.keys(responses).map(Number)]);
    const link = [200, 202, 400, 402, 404, 408, 409, 410, 429, 431, 500, 503];
    assert.deepEqual(listed, [
      ['GET /c/{id}', [], link],
      ['POST /c/{id}', [], link],
      ['GET /c/{id}/status', [], [200, 404, 408, 431, 500, 503]],
      ['GET /.well-known/jwks.json', [], [200, 408, 431]],
    ]);
  });

  for (const [name, { fields, optional = '' }] of Object.entries(OBJECT_FIELDS)) {
    it(`describes ${name} with exactly its fields`, () => {
      const { properties = {}, required = [] } = document.components.schemas[name] ?? {};
      assert.deepEqual(Object.keys(properties).sort(), fields.split(' ').sort());
      const always = fields.split(' ').filter((field) => !optional.split(' ').includes(field));
      assert.deepEqual([...required].sort(), always.sort());
    });
  }

  it('describes Error as { error: { type, code, message, param?, doc_url?, request_id } }', () => {
    const error = document.components.schemas.Error?.properties?.error;
    assert.deepEqual(Object.keys(error?.properties ?? {}).sort(), [
      'code',
      'doc_url',
      'message',
      'param',
      'request_id',
      'type',
    ]);
    assert.deepEqual([...(error?.required ?? [])].sort(), ['code', 'message', 'request_id', 'type']);
  });

  it('declares the limits of each field of a new session', () => {
    const body =
      document.paths['/v1/checkout/sessions']?.post?.requestBody?.content['application/json']?.schema;
    const at = (...path: string[]): Schema | undefined =>
      path.reduce<Schema | undefined>(
        (schema, name) => (name === '[]' ? schema?.items : schema?.properties?.[name]),
        body,
      );
    const product = ['line_items', '[]', 'price_data', 'product_data'];
    const limits: [schema: Schema | undefined, keyword: string, value: number][] = [
      [at('line_items'), 'minItems', 1],
      [at('line_items'), 'maxItems', 100],
      [at('line_items', '[]', 'quantity'), 'minimum', 1],
      [at('line_items', '[]', 'quantity'), 'maximum', 999_999],
      [at('line_items', '[]', 'price_data', 'unit_amount'), 'minimum', 0],
      [at('line_items', '[]', 'price_data', 'unit_amount'), 'maximum', 99_999_999],
      [at(...product, 'name'), 'maxLength', 250],
      [at(...product, 'description'), 'maxLength', 500],
      [at(...product, 'images'), 'maxItems', 8],
      [at('success_url'), 'maxLength', 5000],
      [at('cancel_url'), 'maxLength', 5000],
      [at('client_reference_id'), 'maxLength', 200],
      [at('customer_email'), 'maxLength', 254],
      [at('metadata'), 'maxProperties', 50],
    ];
    for (const [schema, keyword, value] of limits) assert.equal(schema?.[keyword], value, keyword);
    assert.deepEqual(body?.required, ['line_items']);
  });

  describe('matches responses', () => {
    const order = {
      line_items: [
        {
          price_data: {
            unit_amount: 450,
            product_data: { name: 'Coffee', description: 'Hot', images: ['https://img.example/a.png'] },
          },
        },
      ],
      success_url: 'https://shop.example/{CHECKOUT_SESSION_ID}',
      customer_email: 'buyer@mail.example',
      metadata: { order: '7' },
      expand: ['line_items'],
    };

    it('of each operation', async () => {
      answeredOperations.clear();
      await api.post('/v1/checkout/sessions', order).expect(200);
      await api.get('/v1/checkout/sessions').expect(200);
      const { id } = await buildSession(app.db, shop.accountId);
      await api.get(`/v1/checkout/sessions/${id}?expand[]=line_items`).expect(200);
      await api.get(`/v1/checkout/sessions/${id}/line_items`).expect(200);
      await api.post(`/v1/checkout/sessions/${id}/expire`).expect(200);
      const { payment } = await buildPaidSession(app.db, shop.accountId);
      await api.get('/v1/payments').expect(200);
      await api.get(`/v1/payments/${payment.id}`).expect(200);
      const { data: events } = (await api.get('/v1/events').expect(200)).body;
      await api.get(`/v1/events/${events[0].id}`).expect(200);
      const refund = await api.post('/v1/refunds', { payment: payment.id }).expect(200);
      await api.get('/v1/refunds').expect(200);
      await api.get('/v1/reports/daily?from=2026-11-01&to=2026-11-02').expect(200);
      await api.get(`/v1/refunds/${refund.body.id}`).expect(200);
      await api.post(`/v1/refunds/${refund.body.id}/cancel`).expect(200);
      const { body } = await api.post('/v1/webhook_endpoints', { url: 'https://1.1.1.1/' }).expect(200);
      await api.get('/v1/webhook_endpoints').expect(200);
      await api.get(`/v1/webhook_endpoints/${body.id}`).expect(200);
      await api.post(`/v1/events/${events[0].id}/resend`).expect(200);
      await api.get(`/v1/webhook_endpoints/${body.id}/deliveries`).expect(200);
      await api.post(`/v1/webhook_endpoints/${body.id}/roll_secret`).expect(200);
      await api.post(`/v1/webhook_endpoints/${body.id}`, { disabled: true }).expect(200);
      await api.delete(`/v1/webhook_endpoints/${body.id}`).expect(200);
      const { body: key } = await client(app, signToken(await buildSigner(app.db, shop.accountId)))
        .post('/v1/keys', { livemode: false })
        .expect(200);
      await api.get('/v1/keys').expect(200);
      await api.delete(`/v1/keys/${key.id}`).expect(200);
      assert.deepEqual([...answeredOperations].sort(), [...documentedOperations].sort());
      assert.deepEqual([...documentedOperations].sort(), Object.keys(OPERATION_STATUSES).sort());
    });

    it('with sessions in every status, with and without line items', async () => {
      const mine = await buildMerchant(app.db);
      const own = client(app, mine.testKey);
      for (const status of ['open', 'processing', 'expired'] as const) {
        await buildSession(app.db, mine.accountId, { status });
      }
      await buildPaidSession(app.db, mine.accountId);
      await buildPaidSession(app.db, mine.accountId, { payer: null, transaction: null, settledAt: null });
      for (const query of ['', '?expand[]=data.line_items']) {
        const { data } = (await own.get(`/v1/checkout/sessions${query}`).expect(200)).body;
        assert.equal(data.length, 5);
        for (const { id } of data) await own.get(`/v1/checkout/sessions/${id}`).expect(200);
      }
    });

    it('and refuses a session with an additional or missing field', async () => {
      const { body } = await api.post('/v1/checkout/sessions', order).expect(200);
      const fits = schemaValidator('#/components/schemas/CheckoutSession');
      assert.equal(fits(body), true);
      assert.equal(fits({ ...body, extra: 1 }), false);
      assert.equal(fits({ ...body, status: 'paid' }), false);
      assert.equal(fits({ ...body, url: 'not a uri' }), false);
      const { amount_total, ...without } = body;
      assert.equal(amount_total, 450);
      assert.equal(fits(without), false);
    });

    it('and its request schemas compile in a standard validator, which accepts a valid body', () => {
      const ajv = new Ajv2020({ strict: true });
      addFormats.default(ajv, ['email']);
      for (const [, { requestBody, parameters }] of operationsOf()) {
        for (const { schema } of parameters) ajv.compile(schema);
        if (requestBody) ajv.compile(requestBody.content['application/json']?.schema ?? false);
      }
      const { post } = document.paths['/v1/checkout/sessions'] ?? {};
      const accepts = ajv.compile(post?.requestBody?.content['application/json']?.schema ?? false);
      assert.equal(accepts(order), true, ajv.errorsText(accepts.errors));
      assert.equal(accepts({ ...order, customer: 'cus_1' }), false);
      assert.equal(accepts({}), false);
    });
  });
});
