/** A timer that can be stopped and started again; only the time while it runs counts. */
export class Countdown {
  readonly #onEnd: () => void;
  #leftMs: number;
  #running: { timer: NodeJS.Timeout; startedAtMs: number } | undefined;

  constructor(ms: number, onEnd: () => void) {
    this.#leftMs = ms;
    this.#onEnd = onEnd;
  }

  start(): void {
    this.#running ??= { timer: setTimeout(this.#onEnd, this.#leftMs), startedAtMs: performance.now() };
  }

  stop(): void {
    if (this.#running === undefined) return;
    clearTimeout(this.#running.timer);
    this.#leftMs = Math.max(0, this.#leftMs - (performance.now() - this.#running.startedAtMs));
    this.#running = undefined;
  }
}
