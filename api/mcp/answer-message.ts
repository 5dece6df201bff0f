import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import {
  CallToolRequestSchema,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv-provider.js';
import type { Request, Response } from 'express';
import { TOKEN_SYMBOLS } from '../../shared/chains/networks/networks.js';
import type { JsonObject } from '../../shared/values/json-object.js';
import { API_VERSION } from '../../shared/webhooks/event-types.js';
import type { Deps } from '../deps/deps.js';
import { accepts } from '../input/media-type.js';
import { publicSchema } from '../input/public-schema.js';
import { operationCaller } from './call-operation.js';
import type { MerchantTool } from './merchant-tool.js';
import { takeArguments } from './take-arguments.js';
import { inputSchema } from './tool-arguments.js';
import { MERCHANT_TOOLS } from './tools.js';

/**
 * Answers a JSON-RPC message with the MCP SDK, which is loaded with the first message. `res` is the response it
 * will be sent with.
 */
export type AnswerMessage = (res: Response, message: JsonObject) => Promise<{ status: number; text: string }>;

const SERVER = { name: 'stablecoin-checkout', title: 'Stablecoin Checkout', version: API_VERSION };
const SYMBOLS = new Intl.ListFormat('en-GB', { type: 'conjunction' }).format(TOKEN_SYMBOLS);
const INSTRUCTIONS = `\
Take payments in the stablecoins ${SYMBOLS}. To be paid, call create_checkout_session and hand the "url" of the \
session to the payer: a person opens it in a browser, an AI agent pays the same address over x402. Then look it up with \
retrieve_checkout_session: it is paid when "status" is "complete" and "payment_status" is "paid"; release nothing before. \
All amounts are integers in US cents, all times Unix seconds. A test key works on test networks, a live key moves real money. \
A result with isError holds {"error":{"type","code","message","param"}}: "message" says what to change.`;

const BOTH_TYPES = 'application/json, text/event-stream';
const capabilities = { tools: {} };
/** All servers share one validator, since the SDK would create an ajv instance for each, and a server lives for one message. */
const jsonSchemaValidator = new AjvJsonSchemaValidator();
const TOOLS = new Map(MERCHANT_TOOLS.map((tool) => [tool.name, tool]));
const DESCRIPTIONS = MERCHANT_TOOLS.map(describeTool);

/** A new server and transport for each message, as the SDK requires without sessions. */
export function messageAnswerer(deps: Deps): AnswerMessage {
  const callOperation = operationCaller(deps);

  /** Returns the result as JSON: the response of /v1 as text and as structured content. */
  async function callTool(res: Response, name: string, given: JsonObject): Promise<string> {
    const tool = TOOLS.get(name);
    if (tool === undefined) {
      throw new McpError(
        ErrorCode.InvalidParams,
        `No such tool. There are: ${[...TOOLS.keys()].join(', ')}.`,
      );
    }
    res.locals.tool = tool.name;
    const { status, text, code } = await callOperation(res, tool, given);
    res.locals.errorCode = code;
    const content = `[{"type":"text","text":${JSON.stringify(text)}}]`;
    const isError = status === 200 ? '' : ',"isError":true';
    return `{"content":${content},"structuredContent":${text}${isError}}`;
  }

  return async (res, message) => {
    // `Server` instead of `McpServer`, which would validate arguments itself; the operations do that.
    const server = new Server(SERVER, { capabilities, instructions: INSTRUCTIONS, jsonSchemaValidator });
    server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: DESCRIPTIONS }));
    const { message: parsedBody, given, fault } = takeArguments(message);
    let result: string | undefined;
    server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
      if (fault !== undefined) throw new McpError(ErrorCode.InvalidParams, fault);
      result = await callTool(res, params.name, given);
      return { content: [] };
    });
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    await server.connect(transport);
    try {
      const answer = await transport.handleRequest(webRequest(res.req), { parsedBody });
      return { status: answer.status, text: withResult(await answer.text(), result) };
    } finally {
      await server.close();
    }
  };
}

function describeTool(tool: MerchantTool): Tool {
  const { name, title, description, effect } = tool;
  return {
    name,
    title,
    description,
    inputSchema: publicSchema(inputSchema(tool)),
    annotations: {
      title,
      readOnlyHint: effect === 'reads',
      destructiveHint: effect === 'changes',
      idempotentHint: effect !== 'adds',
      openWorldHint: false,
    },
  };
}

/**
 * The SDK would validate and serialize the result again, so its handler returns an empty one, which is replaced
 * here.
 */
function withResult(answer: string, result: string | undefined): string {
  if (result === undefined) return answer;
  const { id, error } = JSON.parse(answer);
  return error === undefined ? `{"result":${result},"jsonrpc":"2.0","id":${JSON.stringify(id)}}` : answer;
}

/**
 * The headers that the transport reads; the body is passed separately. It wants the names of JSON and of event streams in Accept,
 * which a client that takes anything does not write, and every answer here is JSON.
 */
function webRequest({ headers }: Request): globalThis.Request {
  const relevant = ['accept', 'content-type', 'mcp-protocol-version'].flatMap((name): [string, string][] => {
    const value = headers[name];
    return value === undefined ? [] : [[name, String(value)]];
  });
  const request = new globalThis.Request('http://localhost/mcp', { method: 'POST', headers: relevant });
  if (accepts(headers.accept, 'application/json')) request.headers.set('accept', BOTH_TYPES);
  return request;
}
