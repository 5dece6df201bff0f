import { InFlight } from '../process/in-flight.js';
import { waitAtMost } from '../process/within.js';

/**
 * Stands before a store that may hang. Once somebody has waited for it in vain, all who wait go on and nobody waits any
 * more; from there on it is asked by the breaker itself, one question at a time, until it answers.
 */
export interface Breaker {
  /** Rejects when the store does not answer in time, and at once while it is known not to. */
  run<T>(ask: () => Promise<T>): Promise<T>;
  isOpen(): boolean;
  close(): void;
}

interface Store {
  /** Any answer will do. */
  ask(): Promise<unknown>;
  onSilent(): void;
  onAnswering(): void;
}

/** Less than the two seconds after which a command to Redis fails by itself. */
const PATIENCE_MS = 1500;
const TRY_EVERY_MS = 1000;

export class StoreSilent extends Error {
  override readonly name = 'StoreSilent';
}

export function openBreaker({ ask, onSilent, onAnswering }: Store): Breaker {
  const waiting = new InFlight<(reason: Error) => void>();
  let isOpen = false;
  let isClosed = false;
  let next: NodeJS.Timeout | undefined;

  function open(): void {
    if (isOpen || isClosed) return;
    isOpen = true;
    onSilent();
    for (const giveUp of waiting.all()) giveUp(new StoreSilent('the store does not answer'));
    tryLater();
  }

  function tryLater(): void {
    next = setTimeout(async () => {
      const answers = await waitAtMost(PATIENCE_MS, ask()).catch(() => false);
      if (isClosed) return;
      if (!answers) return tryLater();
      isOpen = false;
      onAnswering();
    }, TRY_EVERY_MS);
    next.unref();
  }

  return {
    run(ask) {
      if (isOpen) return Promise.reject(new StoreSilent('the store does not answer'));
      return new Promise((resolve, reject) => {
        let isWaiting = true;
        const takeOut = waiting.add(reject);
        // What came while this process was busy is read before it is said that nothing came.
        const timer = setTimeout(() => setImmediate(() => isWaiting && open()), PATIENCE_MS);
        ask()
          .then(resolve, reject)
          .finally(() => {
            isWaiting = false;
            clearTimeout(timer);
            takeOut();
          });
      });
    },
    isOpen: () => isOpen,
    close() {
      isClosed = true;
      clearTimeout(next);
    },
  };
}
