import { isJsonObject, parseJsonObject } from '../../values/json-object.js';
import { ChainUnreadable } from '../check/unreadable.js';
import type { RpcFault } from './rpc-error.js';

/** A JSON-RPC request, as a client library sends it. */
export interface RpcRequest {
  id: unknown;
  method: string;
  params: readonly unknown[];
  body: string;
  /** Requests with the same key ask the same. */
  key: string;
}

/** An entry of an answer: a result or an error, with the id of its request. */
export type RpcEntry = Readonly<Record<string, unknown>>;

export function readRequest(body: string): RpcRequest {
  const { id, method, params = [] } = parseJsonObject(body) ?? {};
  if (typeof method !== 'string' || !Array.isArray(params))
    throw new ChainUnreadable('the call is malformed');
  return { id, method, params, body, key: `${method} ${JSON.stringify(params)}` };
}

export function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The error of an answer; undefined when it has none. Proxies answer plain texts as errors. */
export function readJsonRpcError(entry: RpcEntry | undefined): RpcFault | undefined {
  const error = entry?.error ?? undefined;
  if (error === undefined) return undefined;
  if (!isJsonObject(error)) return { message: String(error) };
  const message = typeof error.message === 'string' ? error.message : '';
  return typeof error.code === 'number' ? { code: error.code, message } : { message };
}
