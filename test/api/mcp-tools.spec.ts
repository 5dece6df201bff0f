import assert from 'node:assert/strict';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { MERCHANT_TOOLS } from '../../api/mcp/tools.js';
import { openApiDocument } from '../../api/openapi/document.js';
import { buildMerchant } from '../../lab/world/shop/factories.js';
import { openTestApp } from '../support/app.js';
import { forAllTests } from '../support/hooks.js';
import { type Args, connectAgent } from '../support/mcp.js';
import { minimal } from '../support/orders.js';

interface Schema {
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
}
interface Operation {
  operationId: string;
  parameters: { name: string; in: string; required?: boolean; description?: string; schema: Schema }[];
  requestBody?: { content: { 'application/json': { schema: Schema } } };
}
const document = JSON.parse(JSON.stringify(openApiDocument('https://pay.example'))) as {
  paths: Record<string, Record<string, Operation>>;
};

/** Operations without a tool: a session includes its line items, and createKey takes another credential. */
const NO_TOOLS = ['listLineItems', 'createKey'];

describe('/mcp', () => {
  const app = forAllTests(openTestApp);
  const shop = forAllTests(() => buildMerchant(app.db));
  const agent = forAllTests(() => connectAgent(app.port, shop.testKey));

  describe('lists tools', () => {
    const operationOf = ({ method, path }: (typeof MERCHANT_TOOLS)[number]): Operation => {
      const operation = document.paths[`/v1${path}`]?.[method.toLowerCase()];
      assert.ok(operation, `${method} ${path} is not in the document`);
      return operation;
    };

    it('one for each operation that a merchant needs', () => {
      const tools = MERCHANT_TOOLS.map((tool) => operationOf(tool).operationId);
      const merchants = Object.entries(document.paths).filter(([path]) => path.startsWith('/v1/'));
      const operations = merchants.flatMap(([, methods]) =>
        Object.values(methods).map(({ operationId }) => operationId),
      );
      assert.deepEqual([...tools, ...NO_TOOLS].sort(), operations.sort());
    });

    it('with the parameters of the API document', async () => {
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
          [
            ...(body?.required ?? []),
            ...parameters.flatMap((one) => (one.required === true ? [one.name] : [])),
          ],
          name,
        );
        assert.equal(inputSchema.additionalProperties, false);
      }
    });

    it('with valid JSON Schemas that accept a typical call', async () => {
      const ajv = new Ajv2020({ strict: true, formats: { email: true } });
      const { tools } = await agent.sdk.listTools();
      const validators = new Map(tools.map(({ name, inputSchema }) => [name, ajv.compile(inputSchema)]));
      const takes = (name: string, args: Args): boolean | undefined => {
        const valid = validators.get(name)?.(args);
        return typeof valid === 'boolean' ? valid : undefined;
      };
      assert.equal(takes('create_checkout_session', { ...minimal, idempotency_key: 'k' }), true);
      assert.equal(takes('create_checkout_session', {}), false);
      assert.equal(takes('retrieve_checkout_session', { id: 'cs_test_1' }), true);
      assert.equal(takes('retrieve_checkout_session', {}), false);
      assert.equal(takes('list_payments', {}), true);
      assert.equal(takes('list_payments', { idempotency_key: 'k' }), false);
    });

    it('with hints which tools read, add, change or delete', async () => {
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
        retrieve_payment: reads,
        list_events: reads,
        retrieve_event: reads,
        resend_event: adds,
        create_refund: adds,
        retrieve_refund: reads,
        list_refunds: reads,
        retrieve_daily_reports: reads,
        cancel_refund: changes,
        create_webhook_endpoint: adds,
        retrieve_webhook_endpoint: reads,
        list_webhook_endpoints: reads,
        update_webhook_endpoint: changes,
        list_webhook_deliveries: reads,
        roll_webhook_secret: adds,
        delete_webhook_endpoint: changes,
        list_keys: reads,
        delete_key: changes,
      });
      for (const { description = '' } of tools) assert.match(description, /^\S+ .{80,}\.$/s);
    });
  });
});
