interface Taker {
  takeTurn(): void;
}

/** Other work comes after this time, and then the next turns. */
const LONGEST_MS = 10;

/**
 * Turns of connections with requests that came behind others. All of them together get a little time in each turn of the event
 * loop, and each takes one request at a time, so that a flood of pipelined requests delays no one else for long.
 */
export class Turns {
  readonly #waiting = new Set<Taker>();
  #isScheduled = false;

  add(taker: Taker): void {
    this.#waiting.add(taker);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#run();
    });
  }

  #run(): void {
    const until = performance.now() + LONGEST_MS;
    for (const taker of this.#waiting) {
      this.#waiting.delete(taker);
      taker.takeTurn();
      if (performance.now() < until) continue;
      if (this.#waiting.size > 0) this.#schedule();
      return;
    }
  }
}
