import { causesOf, httpStatus } from './unreadable.js';

/**
 * The meaning of an endpoint's error. `rate_limited`: retry later. `behind`: the node lacks the block yet, another node
 * may have it. `refused`: the endpoint will not answer this request. `failed`: no answer. Providers word and number each
 * kind in many ways, so the kind may choose the next request but never decide about money.
 */
export type RefusalKind = 'rate_limited' | 'behind' | 'refused' | 'failed';

export interface Refusal {
  kind: RefusalKind;
  words: string;
  /** The JSON-RPC error code. */
  code?: number | undefined;
}

const RATE_LIMIT_CODES: readonly number[] = [429, -32429, -32029];
const RATE_LIMIT_WORDS =
  /too many requests|rate.?limit|requests? (?:per|limit)|throttl|(?:capacity|quota|credits|compute units)/i;
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
    const status = httpStatus(cause);
    const code = 'code' in cause && typeof cause.code === 'number' ? cause.code : undefined;
    if (status === undefined && code === undefined) continue;
    const words = 'details' in cause && typeof cause.details === 'string' ? cause.details : cause.message;
    return { kind: kindOf(status, code, words), words, code };
  }
  return { kind: 'failed', words: '' };
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
