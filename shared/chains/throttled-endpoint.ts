import { MAX_PAGE_RPC_CALLS } from '../limits/bounds.js';
import { unreadableReason } from './unreadable.js';

export interface EndpointUnreadable {
  kind: 'unreadable';
  reason: string;
}

/** How long what was read for a buyer's page serves all who ask the same, and a failure all who ask at all. */
export const SHARED_MS = 1000;

/** An endpoint that anybody's page may cause calls to: so many at once, and for a moment none after one that failed. */
export function throttleEndpoint(): <T>(ask: () => Promise<T>) => Promise<T | EndpointUnreadable> {
  let inFlight = 0;
  let failed: { answer: EndpointUnreadable; atMs: number } | undefined;
  return async (ask) => {
    if (failed !== undefined && performance.now() - failed.atMs < SHARED_MS) return failed.answer;
    if (inFlight >= MAX_PAGE_RPC_CALLS) return { kind: 'unreadable', reason: 'too many ask at once' };
    inFlight += 1;
    try {
      return await ask();
    } catch (error) {
      const answer: EndpointUnreadable = { kind: 'unreadable', reason: unreadableReason(error) };
      failed = { answer, atMs: performance.now() };
      return answer;
    } finally {
      inFlight -= 1;
    }
  };
}
