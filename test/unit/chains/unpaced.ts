import { type ChainsOptions, createChains, type OpenChains } from '../../../shared/chains/chains.js';
import type { ChainFetch } from '../../../shared/chains/rpc/rpc-fetch.js';

/** Pauses for tests that are not about pauses: an endpoint that limits is called again at once. */
export const UNPACED = { firstPauseMs: 0, longestPauseMs: 0 };

/** Checks by `fetch` alone, without pauses. */
export function openUnpaced(fetch: ChainFetch, options: ChainsOptions = {}): OpenChains {
  return createChains(new Map(), { fetch, retryPauseMs: 0, pace: UNPACED, ...options });
}
