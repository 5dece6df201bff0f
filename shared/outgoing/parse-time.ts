/** The parser may run for this long in each phase of the event loop, for all connections together. */
const LONGEST_MS = 5;

/**
 * The time that the parser may take in a turn of the event loop. Hundreds of servers may answer at once, and without it all that
 * they have sent would be parsed in one turn. A connection without time left keeps its bytes, up to the socket's own buffer, and
 * goes on in a later turn, before connections that have come after it.
 */
export class ParseTime {
  readonly #now: () => number;
  readonly #waiting = new Set<() => void>();
  #until = 0;
  #isScheduled = false;

  constructor(now = () => performance.now()) {
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
    this.#until = this.#now() + LONGEST_MS;
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
