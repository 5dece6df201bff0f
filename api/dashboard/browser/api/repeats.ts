/** The Idempotency-Keys of POSTs that got no answer, for sending these again. */
export interface Repeats {
  /** The kept key of the same POST, or a new one, which is kept. */
  keyOf(path: string, body: string): string;
  forget(path: string, body: string): void;
  /**
   * Forgets the POSTs to an object, below it and to its list: it has changed, and the answer that a repeated POST gets
   * would be of the time before.
   */
  forgetAround(path: string): void;
}

/** A POST that is sent again within this time is a retry. A merchant who refunds the same amount later means a second refund. */
const KEPT_MS = 90_000;

export function keepRepeats(): Repeats {
  const kept = new Map<string, { path: string; key: string; triedAt: number }>();
  const nameOf = (path: string, body: string): string => `${path} ${body}`;
  return {
    keyOf(path, body) {
      const name = nameOf(path, body);
      const now = performance.now();
      const before = kept.get(name);
      const key = before !== undefined && now - before.triedAt < KEPT_MS ? before.key : randomName();
      kept.set(name, { path, key, triedAt: now });
      return key;
    },
    forget(path, body) {
      kept.delete(nameOf(path, body));
    },
    forgetAround(path) {
      for (const [name, { path: of }] of kept)
        if (`${of}/`.startsWith(`${path}/`) || path.startsWith(`${of}/`)) kept.delete(name);
    },
  };
}

/** `crypto.randomUUID` exists on https and on localhost only. */
function randomName(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');
}
