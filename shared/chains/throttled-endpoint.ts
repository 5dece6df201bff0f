import { MAX_PAGE_RPC_CALLS } from '../limits/bounds.js';
import { openConcurrency } from '../limits/concurrency.js';
import { unreadableReason } from './unreadable.js';

export interface EndpointUnreadable {
  kind: 'unreadable';
  reason: string;
}

/** How long an answer for a buyer's page serves all callers with the same question, and a failure all callers. */
export const SHARED_MS = 1000;

/** For an RPC endpoint that any buyer's page may call: so many calls in flight, and none for a moment after a failed one. */
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
