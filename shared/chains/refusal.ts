import { causesOf, EndpointLimits, httpStatus, NoTurn } from './unreadable.js';

/**
 * The meaning of an endpoint's error. `rate_limited`: retry later. `no_turn`: it was not asked. `behind`: the node lacks the
 * block yet, another node may have it. `refused`: the endpoint will not answer this request. `failed`: no answer. Providers
 * word and number each kind in many ways, so the kind may choose the next request but never decide about money.
 */
type RefusalKind = 'rate_limited' | 'no_turn' | 'behind' | 'refused' | 'failed';

export interface Refusal {
  kind: RefusalKind;
  words: string;
  /** The JSON-RPC error code. */
  code?: number | undefined;
}

const RATE_LIMIT_CODES: readonly number[] = [429, -32429, -32029, -32097];
/**
 * Codes that mean a rate limit in answers of EVM nodes, unless they refuse a range of logs. On Solana both are about nodes
 * that are behind.
 */
const EVM_LIMIT_CODES: readonly number[] = [-32005, -32016];
const RATE_LIMIT_WORDS =
  /too many requests|rate.?limit|requests? (?:per|limit)|throttl|(?:capacity|quota|credits|compute units)/i;
/** Not in answers to searches for logs, which are limited in range too. */
const LIMIT_WORDS = /limit exceeded|exceeds? (?:the |your )?limit|over.{0,10} limit/i;
const BATCH_WORDS = /batch/i;
/** A limit on the range of one search; some providers use the code of a rate limit for it. */
const RANGE_WORDS = /block|range|logs|results|response size/i;
const BEHIND_WORDS =
  /(?:header|block)(?: for hash)? not found|unknown block|future|not available for slot|minimum context slot/i;
/** Solana: block not available, block status not available yet, minimum context slot not reached. */
const BEHIND_CODES: readonly number[] = [-32004, -32014, -32016];
const UNKNOWN_METHOD = -32601;
const UNKNOWN_METHOD_WORDS = /method.*(?:not|unknown|unsupported)|(?:unknown|unsupported) method/i;
/** Statuses about the caller or the moment, not about the request. */
const OTHER_STATUSES: readonly number[] = [401, 402, 403, 408];

export function readRefusal(error: unknown): Refusal {
  // The innermost cause is the endpoint's answer; outer ones are added by the client library.
  for (const cause of causesOf(error).reverse()) {
    if (cause instanceof EndpointLimits) return { kind: 'rate_limited', words: cause.message };
    if (cause instanceof NoTurn) return { kind: 'no_turn', words: cause.message };
    const status = httpStatus(cause);
    const code = 'code' in cause && typeof cause.code === 'number' ? cause.code : undefined;
    if (status === undefined && code === undefined) continue;
    const words = 'details' in cause && typeof cause.details === 'string' ? cause.details : cause.message;
    return { kind: kindOf(status, code, words), words, code };
  }
  return { kind: 'failed', words: '' };
}

/** An error of a JSON-RPC answer. */
interface RpcFault {
  code?: number | undefined;
  words: string;
}

/**
 * Whether an answer with HTTP 200 to this method limits the rate of calls. "Limit exceeded" to a search for logs may be about
 * its range: it counts as a limit of the rate only while the endpoint limits other calls.
 */
export function isRateLimit(method: string, { code, words }: RpcFault, isLimiting: boolean): boolean {
  const isSearch = method === 'eth_getLogs';
  if (BATCH_WORDS.test(words)) return false;
  if (code !== undefined && RATE_LIMIT_CODES.includes(code)) return true;
  if (isSearch && RANGE_WORDS.test(words)) return false;
  if (RATE_LIMIT_WORDS.test(words)) return true;
  const mayBeLimit =
    LIMIT_WORDS.test(words) ||
    (method.startsWith('eth_') && code !== undefined && EVM_LIMIT_CODES.includes(code));
  return mayBeLimit && (!isSearch || isLimiting);
}

/** Whether the endpoint does not implement the method. */
export function isUnknownMethod(error: unknown): boolean {
  const { kind, code, words } = readRefusal(error);
  return kind === 'refused' && (code === UNKNOWN_METHOD || UNKNOWN_METHOD_WORDS.test(words));
}

function kindOf(status: number | undefined, code: number | undefined, words: string): RefusalKind {
  if (status === 429 || (code !== undefined && RATE_LIMIT_CODES.includes(code))) return 'rate_limited';
  if (RATE_LIMIT_WORDS.test(words) && !RANGE_WORDS.test(words)) return 'rate_limited';
  if (status !== undefined && (status >= 500 || OTHER_STATUSES.includes(status))) return 'failed';
  if ((code !== undefined && BEHIND_CODES.includes(code)) || BEHIND_WORDS.test(words)) return 'behind';
  return 'refused';
}
