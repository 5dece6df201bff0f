/** In each phase of the event loop, for all work of one kind together. */
const SHORT_MS = 5;

/**
 * The time that work of one kind may take in a turn of the event loop: hundreds of servers may answer at once, or hundreds of
 * connections begin. Work for which no time is left goes on in a later turn, before work that has come after it.
 */
export class TurnTime {
  readonly #longestMs: number;
  readonly #now: () => number;
  readonly #waiting = new Set<() => void>();
  #until = 0;
  #isScheduled = false;

  constructor(longestMs = SHORT_MS, now = () => performance.now()) {
    this.#longestMs = longestMs;
    this.#now = now;
  }

  /** False when the time is used up: `goOn` is called when there is time again. */
  ask(goOn: () => void): boolean {
    if (!this.#isScheduled) this.#begin();
    if (this.#hasTime()) return true;
    this.#waiting.add(goOn);
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
    if (this.#waiting.size === 0) return;
    this.#begin();
    for (const goOn of this.#waiting) {
      if (!this.#hasTime()) return;
      this.#waiting.delete(goOn);
      goOn();
    }
  }

  #hasTime(): boolean {
    return this.#now() < this.#until;
  }
}
