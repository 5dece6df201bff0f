import { LIMIT_EXCEEDED, RpcError } from './rpc-error.js';

/** How public endpoints limit the rate of calls: by HTTP 429, or by JSON-RPC errors with HTTP 200. */
export const RATE_LIMITS = {
  http_429: undefined,
  limit_error: new RpcError(LIMIT_EXCEEDED, 'limit exceeded'),
  over_rate: new RpcError(-32016, 'over rate limit'),
  too_many: new RpcError(-32097, 'too many requests, try again later'),
  capacity: new RpcError(429, 'Your app has exceeded its compute units per second capacity'),
} as const satisfies Record<string, RpcError | undefined>;

export type RateLimit = keyof typeof RATE_LIMITS;

/** The ways in which public endpoints treat a JSON-RPC batch. */
export type BatchHandling =
  | 'answered'
  /** The answers come in another order, as JSON-RPC allows. */
  | 'shuffled'
  /** Some calls are not answered. */
  | 'partly'
  /** Some ids come twice, the second time with another call's answer. */
  | 'with_twice_used_ids'
  /** A single error with HTTP 200 for all calls. */
  | 'refused'
  | 'http_400';
