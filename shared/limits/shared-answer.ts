import { LRUCache } from 'lru-cache';

/**
 * One answer serves all who ask the same while it is on its way and for a short while afterwards; so does a failure. What
 * is asked does not grow with those who ask.
 */
export function askSeldom<T>({ forMs, keys }: { forMs: number; keys: number }) {
  const answers = new LRUCache<string, { answer: Promise<T>; endedAtMs?: number }>({ max: keys });
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
