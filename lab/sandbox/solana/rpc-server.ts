import { createServer, type Server } from 'node:http';
import { isJsonObject } from '../../../shared/x402/json-object.js';
import { readBody, sendJson } from '../http/json-http.js';
import { FOREIGN_CALLER, isLocalRequest } from '../http/local-requests.js';
import { INVALID_PARAMS, RpcError } from './rpc-error.js';
import type { RpcMethods } from './rpc-methods.js';

/** Wallet extensions call from pages of their own origin. */
const CORS = {
  'access-control-allow-origin': '*',
  'access-control-allow-headers': '*',
  'access-control-allow-methods': 'POST, OPTIONS',
};

/** JSON-RPC over HTTP, with batches. */
export function createRpcServer(methods: RpcMethods): Server {
  const answer = (request: unknown): object => {
    const { id = null, method, params } = isJsonObject(request) ? request : {};
    try {
      const result = methods(String(method), Array.isArray(params) ? params : []);
      return { jsonrpc: '2.0', id, result };
    } catch (error) {
      return { jsonrpc: '2.0', id, error: describe(error) };
    }
  };
  return createServer(async (request, response) => {
    if (!isLocalRequest(request)) return sendJson(response, 403, FOREIGN_CALLER);
    if (request.method !== 'POST') {
      response.writeHead(request.method === 'OPTIONS' ? 204 : 405, CORS).end();
      return;
    }
    const body = await readBody(request);
    if (body === undefined) {
      sendJson(
        response,
        200,
        { jsonrpc: '2.0', id: null, error: { code: -32700, message: 'Parse error' } },
        CORS,
      );
      return;
    }
    sendJson(response, 200, Array.isArray(body) ? body.map(answer) : answer(body), CORS);
  });
}

/**
 * An unexpected exception is reported as invalid params: in practice the request held a malformed address or
 * transaction.
 */
function describe(error: unknown): object {
  if (error instanceof RpcError) {
    return { code: error.code, message: error.message, ...(error.data && { data: error.data }) };
  }
  return { code: INVALID_PARAMS, message: error instanceof Error ? error.message : String(error) };
}
