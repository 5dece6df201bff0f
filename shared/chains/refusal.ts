import { causesOf, httpStatus } from './unreadable.js';

/**
 * What an endpoint means by an error. `rate_limited`: ask later. `behind`: it has not got the block yet, another node or
 * moment may. `refused`: it will not answer this question. `failed`: it gave no answer. Providers word and number each
 * of them in many ways, so nothing that is believed of money may rest on the difference: only what is asked next.
 */
export type RefusalKind = 'rate_limited' | 'behind' | 'refused' | 'failed';

export interface Refusal {
  kind: RefusalKind;
  words: string;
  /** Of JSON-RPC. */
  code?: number | undefined;
}

const RATE_LIMIT_CODES: readonly number[] = [429, -32429, -32029];
const RATE_LIMIT_WORDS =
  /too many requests|rate.?limit|requests? (?:per|limit)|throttl|(?:capacity|quota|credits|compute units)/i;
/** A limit on what one search covers, which some providers call by the same number. */
const RANGE_WORDS = /block|range|logs|results|response size/i;
const BEHIND_WORDS =
  /(?:header|block)(?: for hash)? not found|unknown block|future|not available for slot|minimum context slot/i;
/** Of Solana: a slot without its block yet, a node that lags, a slot not reached. */
const BEHIND_CODES: readonly number[] = [-32004, -32014, -32016];
const UNKNOWN_METHOD = -32601;
const UNKNOWN_METHOD_WORDS = /method.*(?:not|unknown|unsupported)|(?:unknown|unsupported) method/i;
/** About who asks, or when, and not about what is asked. */
const OTHER_STATUSES: readonly number[] = [401, 402, 403, 408];

export function readRefusal(error: unknown): Refusal {
  // The innermost is what the endpoint said; the others are what a library made of it.
  for (const cause of causesOf(error).reverse()) {
    const status = httpStatus(cause);
    const code = 'code' in cause && typeof cause.code === 'number' ? cause.code : undefined;
    if (status === undefined && code === undefined) continue;
    const words = 'details' in cause && typeof cause.details === 'string' ? cause.details : cause.message;
    return { kind: kindOf(status, code, words), words, code };
  }
  return { kind: 'failed', words: '' };
}

/** Whether the endpoint has not got the method, and never will answer it. */
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
