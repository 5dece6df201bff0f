import {
  MAX_IMAGE_FETCHES,
  MAX_IMAGE_FETCHES_OF_ACCOUNT,
  MAX_IMAGE_FETCHES_OF_HOST,
  MAX_IMAGES_WAITING,
  MAX_IMAGES_WAITING_OF_ACCOUNT,
} from '../../shared/limits/bounds.js';

/** For whom an image is fetched, and where. */
export interface Fetch {
  accountId: string;
  host: string;
}

interface Waiting extends Fetch {
  go(release: () => void): void;
}

/** Neither a host that hangs nor an account that has many of them holds up the images of others. */
export class FetchPlaces {
  readonly #inFlight = new Set<Fetch>();
  readonly #waiting = new Set<Waiting>();

  /** How to give the place back; undefined when there was none in that time, or too many wait already. */
  take({ accountId, host }: Fetch, waitMs: number): Promise<(() => void) | undefined> {
    const one = { accountId, host };
    if (this.#hasRoom(one)) return Promise.resolve(this.#enter(one));
    const others = count(this.#waiting, (other) => other.accountId === accountId);
    if (this.#waiting.size >= MAX_IMAGES_WAITING || others >= MAX_IMAGES_WAITING_OF_ACCOUNT)
      return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const waiting: Waiting = {
        ...one,
        go(release) {
          clearTimeout(timer);
          resolve(release);
        },
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(waiting);
        resolve(undefined);
      }, waitMs);
      this.#waiting.add(waiting);
    });
  }

  #hasRoom({ accountId, host }: Fetch): boolean {
    return (
      this.#inFlight.size < MAX_IMAGE_FETCHES &&
      count(this.#inFlight, (other) => other.accountId === accountId) < MAX_IMAGE_FETCHES_OF_ACCOUNT &&
      count(this.#inFlight, (other) => other.host === host) < MAX_IMAGE_FETCHES_OF_HOST
    );
  }

  #enter(one: Fetch): () => void {
    this.#inFlight.add(one);
    return () => {
      this.#inFlight.delete(one);
      for (const waiting of this.#waiting) {
        if (!this.#hasRoom(waiting)) continue;
        this.#waiting.delete(waiting);
        waiting.go(this.#enter({ accountId: waiting.accountId, host: waiting.host }));
      }
    };
  }
}

function count<T>(all: ReadonlySet<T>, matches: (one: T) => boolean): number {
  let matching = 0;
  for (const one of all) if (matches(one)) matching += 1;
  return matching;
}
