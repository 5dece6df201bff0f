import { createServer } from 'node:http';
import { isJsonObject } from '../../../shared/x402/json-object.js';
import { readBody, sendJson } from '../http/json-http.js';
import { closeServer, listen, type PreferredPort, urlOf } from '../http/listen.js';
import { FOREIGN_CALLER, isLocalRequest } from '../http/local-requests.js';

/** The methods that wallets, the x402 packages and this service call. Methods that control anvil are not forwarded. */
const OPEN = /^(eth|net|web3)_/;
const METHOD_NOT_FOUND = -32601;
const INVALID_REQUEST = -32600;
const GONE = -32603;
/** Wallet extensions call from pages of their own origin. */
const CORS = { 'access-control-allow-origin': '*', 'access-control-allow-headers': 'content-type' };

export interface Front {
  url: string;
  stop(): Promise<void>;
}

/** The chain's public endpoint. Anvil itself obeys any web page, and can be told to fetch any address. */
export async function openFront(anvilUrl: string, port: PreferredPort): Promise<Front> {
  const server = createServer(async (request, response) => {
    if (!isLocalRequest(request)) return sendJson(response, 403, FOREIGN_CALLER);
    if (request.method !== 'POST') {
      response.writeHead(request.method === 'OPTIONS' ? 204 : 405, CORS).end();
      return;
    }
    const body = await readBody(request);
    const refused = Array.isArray(body) ? body.map(refusalOf) : [refusalOf(body)];
    const refusal = refused.find((one) => one !== undefined);
    if (refusal !== undefined) return sendJson(response, 200, refusal, CORS);
    const answer = await forward(anvilUrl, body).catch(() => undefined);
    if (answer === undefined) return sendJson(response, 502, errorOf(body, GONE, 'The chain is gone'), CORS);
    response.writeHead(200, { 'content-type': 'application/json', ...CORS }).end(answer);
  });
  return { url: urlOf(await listen(server, port)), stop: () => closeServer(server) };
}

async function forward(url: string, body: unknown): Promise<Buffer> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  return Buffer.from(await response.arrayBuffer());
}

function refusalOf(request: unknown): object | undefined {
  const { method } = isJsonObject(request) ? request : {};
  if (typeof method !== 'string') return errorOf(request, INVALID_REQUEST, 'Invalid request');
  return OPEN.test(method) ? undefined : errorOf(request, METHOD_NOT_FOUND, 'Method not found');
}

function errorOf(request: unknown, code: number, message: string): object {
  const id = isJsonObject(request) ? (request.id ?? null) : null;
  return { jsonrpc: '2.0', id, error: { code, message } };
}
