import { MAX_PAGE_RPC_CALLS } from '../../limits/bounds.js';
import { openConcurrency } from '../../limits/concurrency.js';
import { unreadableReason } from '../check/unreadable.js';

export interface EndpointUnreadable {
  kind: 'unreadable';
  reason: string;
}

/** How long an answer is shared by all callers with the same request, and a failure by all callers of the endpoint. */
export const SHARED_MS = 1000;

/** Limits calls for buyers' pages to one RPC endpoint: MAX_PAGE_RPC_CALLS in flight, and none for SHARED_MS after a failure. */
export function throttleEndpoint(): <T>(ask: () => Promise<T>) => Promise<T | EndpointUnreadable> {
  const calls = openConcurrency({ total: MAX_PAGE_RPC_CALLS });
  let failed: { answer: EndpointUnreadable; atMs: number } | undefined;
  return async (ask) => {
    if (failed !== undefined && performance.now() - failed.atMs < SHARED_MS) return failed.answer;
    const release = calls.tryTake();
    if (release === undefined) return { kind: 'unreadable', reason: 'too many calls at once' };
    try {
      return await ask();
    } catch (error) {
      const answer: EndpointUnreadable = { kind: 'unreadable', reason: unreadableReason(error) };
      failed = { answer, atMs: performance.now() };
      return answer;
    } finally {
      release();
    }
  };
}
