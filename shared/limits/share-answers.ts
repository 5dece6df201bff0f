import { lruCache } from './lru-cache.js';

/**
 * Shares one call among all callers with the same key, while it is in flight and for `forMs` afterwards; a failure is
 * shared too. The number of calls does not grow with the number of callers.
 */
export function shareAnswers<T>({ forMs, keys }: { forMs: number; keys: number }) {
  const answers = lruCache<{ answer: Promise<T>; endedAtMs?: number }>(keys);
  return (key: string, ask: () => Promise<T>): Promise<T> => {
    const known = answers.get(key);
    const isFresh = known?.endedAtMs === undefined || performance.now() - known.endedAtMs < forMs;
    if (known !== undefined && isFresh) return known.answer;
    const asked: { answer: Promise<T>; endedAtMs?: number } = { answer: ask() };
    answers.set(key, asked);
    const end = (): void => {
      asked.endedAtMs = performance.now();
    };
    asked.answer.then(end, end);
    return asked.answer;
  };
}
