import { InFlight } from '../process/in-flight.js';
import { inTurns } from '../process/in-turns.js';
import { waitAtMost } from '../process/timeout.js';

/**
 * A circuit breaker for a store that may hang. The first call without an answer in time opens it: all calls in flight
 * fail at once, and so do later ones. An open breaker probes the store, one probe at a time, and closes when it answers.
 */
export interface Breaker {
  /** Rejects with BreakerOpen when no answer comes in time, and at once while the breaker is open. */
  run<T>(call: () => Promise<T>): Promise<T>;
  isOpen(): boolean;
  /** Ends the probing, when the process stops. */
  close(): void;
}

interface BreakerOptions {
  /** Any answer counts. */
  probe(): Promise<unknown>;
  onOpened(): void;
  onClosed(): void;
}

/** Less than the two seconds after which a command to Redis fails by itself. */
const ANSWER_WITHIN_MS = 1500;
const PROBE_EVERY_MS = 1000;

export class BreakerOpen extends Error {
  override readonly name = 'BreakerOpen';

  constructor() {
    super('the store does not answer');
  }
}

export function openBreaker({ probe, onOpened, onClosed }: BreakerOptions): Breaker {
  const calls = new InFlight<(reason: Error) => void>();
  let isOpen = false;
  let isStopped = false;
  let nextProbe: NodeJS.Timeout | undefined;

  function open(): void {
    if (isOpen || isStopped) return;
    isOpen = true;
    onOpened();
    for (const reject of calls.all()) inTurns(() => reject(new BreakerOpen()));
    probeLater();
  }

  function probeLater(): void {
    nextProbe = setTimeout(async () => {
      const answers = await waitAtMost(ANSWER_WITHIN_MS, probe()).catch(() => false);
      if (isStopped) return;
      if (!answers) return probeLater();
      isOpen = false;
      onClosed();
    }, PROBE_EVERY_MS);
    nextProbe.unref();
  }

  return {
    run(call) {
      if (isOpen) return Promise.reject(new BreakerOpen());
      return new Promise((resolve, reject) => {
        let isWaiting = true;
        const remove = calls.add(reject);
        // An answer that arrived while this process was busy is read before the call counts as unanswered.
        const timer = setTimeout(() => setImmediate(() => isWaiting && open()), ANSWER_WITHIN_MS);
        call()
          .then(resolve, reject)
          .finally(() => {
            isWaiting = false;
            clearTimeout(timer);
            remove();
          });
      });
    },
    isOpen: () => isOpen,
    close() {
      isStopped = true;
      clearTimeout(nextProbe);
    },
  };
}
