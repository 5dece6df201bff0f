import fc, { type Arbitrary } from 'fast-check';
import type { MerchantTool } from '../../../api/mcp/merchant-tool.js';
import { inputSchema } from '../../../api/mcp/tool-arguments.js';
import { MERCHANT_TOOLS } from '../../../api/mcp/tools.js';
import { allowed, type Schema } from './hostile-bodies.js';
import { type Hostile, headerText, ID, idempotencyKey, METHODS } from './hostile-requests.js';
import { damage, damages, hostileText, hostileValue, type Json, jsonText, rarely } from './hostile-values.js';

/** Valid, damaged or unrelated arguments. */
function argumentsOf(tool: MerchantTool): Arbitrary<Json> {
  const { properties, required } = inputSchema(tool) as Schema;
  const members = Object.fromEntries(
    Object.entries(properties ?? {}).map(([name, schema]) => [name, argument(name, schema)]),
  );
  const valid = fc.record(members, { requiredKeys: [...(required ?? [])] });
  return fc.oneof(
    { weight: 2, arbitrary: valid },
    { weight: 2, arbitrary: fc.tuple(valid, damages).map(([args, changes]) => damage(args, changes)) },
    { weight: 1, arbitrary: hostileValue },
  );
}

function argument(name: string, schema: Schema): Arbitrary<Json> {
  if (name === 'idempotency_key') return idempotencyKey;
  if (name !== 'id') return allowed(schema);
  return fc.oneof({ weight: 5, arbitrary: fc.constant(ID) }, { weight: 1, arbitrary: hostileText });
}

const calls: Arbitrary<Json> = fc
  .constantFrom(...MERCHANT_TOOLS)
  .chain((tool) => argumentsOf(tool).map((args) => ({ name: tool.name, arguments: args })))
  .map((params) => ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }));

const others: Arbitrary<Json> = fc
  .record({
    method: fc.oneof(
      fc.constantFrom('initialize', 'tools/list', 'ping', 'notifications/initialized', 'resources/list'),
      hostileText,
    ),
    params: fc.oneof(fc.constantFrom<Json>({}), hostileValue),
    id: fc.constantFrom<Json>(1, 'a', 0, -1, null),
  })
  .map(({ method, params, id }) => ({ jsonrpc: '2.0', ...(id !== null && { id }), method, params }));

const messages: Arbitrary<string> = fc
  .oneof(
    { weight: 10, arbitrary: calls },
    { weight: 2, arbitrary: others },
    { weight: 2, arbitrary: fc.tuple(calls, damages).map(([call, changes]) => damage(call, changes)) },
    { weight: 1, arbitrary: hostileValue },
    { weight: 1, arbitrary: fc.array(calls, { maxLength: 3 }) },
  )
  .map(jsonText);

const VALID_HEADERS: [string, string][] = [
  ['Content-Type', 'application/json'],
  ['Accept', 'application/json, text/event-stream'],
];

/** POSTs to /mcp, most of them with a message that the transport of the SDK accepts. */
export function hostileMessages(): Arbitrary<Hostile> {
  return fc
    .record({
      method: fc.oneof({ weight: 30, arbitrary: fc.constant('POST') }, { weight: 1, arbitrary: METHODS }),
      path: fc.oneof(
        { weight: 30, arbitrary: fc.constant('/mcp') },
        { weight: 1, arbitrary: fc.constantFrom('/mcp/', '/mcp?x=1', '/mcp/x') },
      ),
      id: fc.nat(),
      key: fc.nat(99),
      other: rarely(
        6,
        fc.tuple(
          fc.constantFrom(
            'Content-Type',
            'Accept',
            'MCP-Protocol-Version',
            'Mcp-Session-Id',
            'Last-Event-ID',
          ),
          fc.oneof(
            headerText,
            fc.constantFrom('*/*', 'text/html', '2025-06-18', 'application/json;charset=x'),
          ),
        ),
      ),
      message: messages,
      cutAt: rarely(30, fc.nat(300)),
    })
    .map(({ other, message, cutAt, ...rest }) => ({
      ...rest,
      headers: [...VALID_HEADERS.filter(([name]) => name !== other?.[0]), ...(other === null ? [] : [other])],
      body: Buffer.from(cutAt === null ? message : message.slice(0, cutAt)),
    }));
}
