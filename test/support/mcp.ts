import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import request, { type Response, type Test } from 'supertest';
import type { MerchantTool } from '../../api/mcp/merchant-tool.js';
import { MERCHANT_TOOLS } from '../../api/mcp/tools.js';
import { client as restClient } from './api-client.js';
import type { TestApp } from './app.js';

/** A merchant's agent with the SDK's own client. */
export interface MerchantAgent {
  sdk: Client;
  /** Calls a tool and asserts that its result is complete. */
  call(name: string, args?: Args): Promise<ToolAnswer>;
  close(): Promise<void>;
}

export type Args = Record<string, unknown>;

interface ToolAnswer {
  isError: boolean;
  /** The answer that /v1 would give. */
  body: Response['body'];
  text: string;
}

/** Connects an agent. With several ports, requests go to them in turn. */
export async function connectAgent(ports: number | readonly number[], key: string): Promise<MerchantAgent> {
  const all = [ports].flat();
  let turn = 0;
  let requestId: string | null = null;
  const transport = new StreamableHTTPClientTransport(new URL('http://127.0.0.1/mcp'), {
    requestInit: { headers: { Authorization: `Bearer ${key}` } },
    fetch: async (_url, init) => {
      const answer = await fetch(`http://127.0.0.1:${all[turn++ % all.length]}/mcp`, init);
      requestId = answer.headers.get('Request-Id');
      return answer;
    },
  });
  const sdk = new Client({ name: 'merchant-agent', version: '1.0.0' });
  // The SDK's types do not support exactOptionalPropertyTypes.
  await sdk.connect(transport as Parameters<Client['connect']>[0]);
  return {
    sdk,
    async call(name, args = {}) {
      const { content, structuredContent, isError = false } = await sdk.callTool({ name, arguments: args });
      const [part, ...others] = content as { type: string; text: string }[];
      assert.deepEqual([part?.type, others], ['text', []]);
      const text = part?.text ?? '';
      assert.deepEqual(JSON.parse(text), structuredContent);
      const body = structuredContent as ToolAnswer['body'];
      assert.equal(body.error !== undefined, isError, text);
      if (isError) assert.equal(body.error.request_id, requestId);
      return { isError: Boolean(isError), body, text };
    },
    close: () => sdk.close(),
  };
}

function toolNamed(name: string): MerchantTool {
  const tool = MERCHANT_TOOLS.find((one) => one.name === name);
  if (tool === undefined) throw new Error(`There is no tool ${name}.`);
  return tool;
}

/** Sends a tool's request as REST, with a JSON body or a query string. */
export async function askRest(app: TestApp, key: string, name: string, args: Args): Promise<Response> {
  const { method, path, id } = toolNamed(name);
  const { idempotency_key: once, ...others } = args;
  if (id !== undefined) delete others.id;
  const target = `/v1${path.replace('{id}', encodeURIComponent(String(args.id)))}`;
  const api = restClient(app, key);
  if (method === 'POST') {
    const test = api.post(target, others);
    return await (once === undefined ? test : test.set('Idempotency-Key', String(once)));
  }
  return await api.send(method === 'GET' ? 'get' : 'delete', target + queryText(others));
}

function queryText(args: Args): string {
  const pairs = Object.entries(args).flatMap(([name, value]) => pairsOf(name, value));
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

function pairsOf(name: string, value: unknown): string[] {
  if (typeof value !== 'object' || value === null)
    return [`${name}=${encodeURIComponent(String(value ?? ''))}`];
  return Object.entries(value).flatMap(([key, member]) => pairsOf(`${name}[${key}]`, member));
}

/** A raw POST to /mcp with any text and headers. */
export function postMcp(app: Pick<TestApp, 'server'>, key: string | undefined, body: string | Buffer): Test {
  const test = request(app.server)
    .post('/mcp')
    .set({ 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' });
  if (key !== undefined) test.set('Authorization', `Bearer ${key}`);
  return test.serialize((text) => text).send(body);
}

/** A tools/call request as text, whose arguments may be JSON that no client would produce. */
export function callText(name: string, args: string, id: number | string = 1): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":"tools/call","params":{"name":"${name}","arguments":${args}}}`;
}
