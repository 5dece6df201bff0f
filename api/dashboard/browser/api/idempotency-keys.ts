/** The Idempotency-Keys of POSTs that got no answer, for sending these again. */
interface IdempotencyKeys {
  /** The kept key and body of a POST that meant the same, or `body` under a new key, which are kept. */
  keyFor(path: string, meaning: string, body: string): { key: string; body: string };
  /** Notes that a try got no answer: its key is kept from now on, however long the merchant has waited. */
  keepUnanswered(path: string, meaning: string): void;
  forget(path: string, meaning: string): void;
  /**
   * Forgets the POSTs to an object, below it and to its list: it has changed, and the answer that a repeated POST gets
   * would be of the time before.
   */
  forgetRelated(path: string): void;
}

/**
 * A POST that is sent again within this time after a try has ended is a retry. A merchant who refunds the same amount later means
 * a second refund.
 */
const KEPT_MS = 90_000;

export function openIdempotencyKeys(): IdempotencyKeys {
  const kept = new Map<string, { path: string; key: string; body: string; triedAt: number }>();
  const nameOf = (path: string, meaning: string): string => `${path} ${meaning}`;
  return {
    keyFor(path, meaning, body) {
      const name = nameOf(path, meaning);
      const triedAt = performance.now();
      const before = kept.get(name);
      const isRetry = before !== undefined && triedAt - before.triedAt < KEPT_MS;
      const { key, body: sent } = isRetry ? before : { key: randomKey(), body };
      kept.set(name, { path, key, body: sent, triedAt });
      return { key, body: sent };
    },
    keepUnanswered(path, meaning) {
      const one = kept.get(nameOf(path, meaning));
      if (one !== undefined) one.triedAt = performance.now();
    },
    forget(path, meaning) {
      kept.delete(nameOf(path, meaning));
    },
    forgetRelated(path) {
      for (const [name, { path: of }] of kept)
        if (`${of}/`.startsWith(`${path}/`) || path.startsWith(`${of}/`)) kept.delete(name);
    },
  };
}

/** `crypto.randomUUID` exists on https and on localhost only. */
function randomKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');
}
