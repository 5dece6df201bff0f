/** Milliseconds in each phase of the event loop, for all work of one kind together. */
const SHORT_MS = 5;

/**
 * The time that work of one kind may take in a turn of the event loop: hundreds of servers may answer at once, or hundreds of
 * connections begin. Work for which no time is left goes on in a later turn, before work that has come after it. Work of known
 * peers alternates with that of new ones, so that neither waits for all of the other.
 */
export class TurnTime {
  readonly #longestMs: number;
  readonly #now: () => number;
  readonly #known = new Set<() => void>();
  readonly #new = new Set<() => void>();
  #lastWasKnown = false;
  #until = 0;
  #isScheduled = false;

  constructor(longestMs = SHORT_MS, now = () => performance.now()) {
    this.#longestMs = longestMs;
    this.#now = now;
  }

  /** False when the time is used up: `goOn` is called when there is time again. */
  ask(goOn: () => void, from: 'known' | 'new' = 'new'): boolean {
    if (!this.#isScheduled) this.#begin();
    if (this.#hasTime()) return true;
    (from === 'known' ? this.#known : this.#new).add(goOn);
    return false;
  }

  /** The time of this turn begins now, and that of the next turn with its immediates. */
  #begin(): void {
    this.#until = this.#now() + this.#longestMs;
    this.#isScheduled = true;
    setImmediate(() => this.#next());
  }

  #next(): void {
    this.#isScheduled = false;
    if (this.#known.size + this.#new.size === 0) return;
    this.#begin();
    while (this.#hasTime()) {
      const goOn = this.#take();
      if (goOn === undefined) return;
      goOn();
    }
  }

  #take(): (() => void) | undefined {
    for (const waiting of this.#lastWasKnown ? [this.#new, this.#known] : [this.#known, this.#new])
      for (const goOn of waiting) {
        waiting.delete(goOn);
        this.#lastWasKnown = waiting === this.#known;
        return goOn;
      }
    return undefined;
  }

  #hasTime(): boolean {
    return this.#now() < this.#until;
  }
}
