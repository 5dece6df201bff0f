import { causesOf, EndpointLimits, httpStatus, NoTurn } from '../check/unreadable.js';

/**
 * The meaning of an endpoint's error. `rate_limited`: retry later. `no_turn`: it was not asked. `behind`: the node lacks the
 * block yet, another node may have it. `refused`: the endpoint will not answer this request. `failed`: no answer. Providers
 * word and number each kind in many ways, so the kind may choose the next request but never decide about money.
 */
type RpcErrorKind = 'rate_limited' | 'no_turn' | 'behind' | 'refused' | 'failed';

interface RpcError {
  kind: RpcErrorKind;
  message: string;
  /** The JSON-RPC error code. */
  code?: number | undefined;
}

const RATE_LIMIT_CODES: readonly number[] = [429, -32429, -32029, -32097];
/**
 * Codes that mean a rate limit in answers of EVM nodes, unless they refuse a range of logs. On Solana both are about nodes
 * that are behind.
 */
const EVM_LIMIT_CODES: readonly number[] = [-32005, -32016];
const RATE_LIMIT_MESSAGE =
  /too many requests|rate.?limit|requests? (?:per|limit)|throttl|(?:capacity|quota|credits|compute units)/i;
/** Answers to searches for logs are excepted, since searches are limited in range too. */
const LIMIT_MESSAGE = /limit exceeded|exceeds? (?:the |your )?limit|over.{0,10} limit/i;
const BATCH_MESSAGE = /batch/i;
/** A limit on the range of one search; some providers use the code of a rate limit for it. */
const RANGE_MESSAGE = /block|range|logs|results|response size/i;
const BEHIND_MESSAGE =
  /(?:header|block)(?: for hash)? not found|unknown block|future|not available for slot|minimum context slot/i;
/** Solana: block not available, block status not available yet, minimum context slot not reached. */
const BEHIND_CODES: readonly number[] = [-32004, -32014, -32016];
const UNKNOWN_METHOD = -32601;
const UNKNOWN_METHOD_MESSAGE = /method.*(?:not|unknown|unsupported)|(?:unknown|unsupported) method/i;
/** Statuses about the caller or the moment, not about the request. */
const OTHER_STATUSES: readonly number[] = [401, 402, 403, 408];

export function readRpcError(error: unknown): RpcError {
  // The innermost cause is the endpoint's answer; outer ones are added by the client library.
  for (const cause of causesOf(error).reverse()) {
    if (cause instanceof EndpointLimits) return { kind: 'rate_limited', message: cause.message };
    if (cause instanceof NoTurn) return { kind: 'no_turn', message: cause.message };
    const status = httpStatus(cause);
    const code = 'code' in cause && typeof cause.code === 'number' ? cause.code : undefined;
    if (status === undefined && code === undefined) continue;
    const message = 'details' in cause && typeof cause.details === 'string' ? cause.details : cause.message;
    return { kind: kindOf(status, code, message), message, code };
  }
  return { kind: 'failed', message: '' };
}

/** An error of a JSON-RPC answer. */
export interface RpcFault {
  code?: number | undefined;
  message: string;
}

/**
 * Whether an answer with HTTP 200 to this method limits the rate of calls. "Limit exceeded" to a search for logs may be about
 * its range: it counts as a limit of the rate only while the endpoint limits other calls.
 */
export function isRateLimit(method: string, { code, message }: RpcFault, isLimiting: boolean): boolean {
  const isSearch = method === 'eth_getLogs';
  if (BATCH_MESSAGE.test(message)) return false;
  if (code !== undefined && RATE_LIMIT_CODES.includes(code)) return true;
  if (isSearch && RANGE_MESSAGE.test(message)) return false;
  if (RATE_LIMIT_MESSAGE.test(message)) return true;
  const mayBeLimit =
    LIMIT_MESSAGE.test(message) ||
    (method.startsWith('eth_') && code !== undefined && EVM_LIMIT_CODES.includes(code));
  return mayBeLimit && (!isSearch || isLimiting);
}

/** Whether the endpoint does not implement the method. */
export function isUnknownMethod(error: unknown): boolean {
  const { kind, code, message } = readRpcError(error);
  return kind === 'refused' && (code === UNKNOWN_METHOD || UNKNOWN_METHOD_MESSAGE.test(message));
}

function kindOf(status: number | undefined, code: number | undefined, message: string): RpcErrorKind {
  if (status === 429 || (code !== undefined && RATE_LIMIT_CODES.includes(code))) return 'rate_limited';
  if (RATE_LIMIT_MESSAGE.test(message) && !RANGE_MESSAGE.test(message)) return 'rate_limited';
  if (status !== undefined && (status >= 500 || OTHER_STATUSES.includes(status))) return 'failed';
  if ((code !== undefined && BEHIND_CODES.includes(code)) || BEHIND_MESSAGE.test(message)) return 'behind';
  return 'refused';
}
