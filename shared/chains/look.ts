import { setTimeout as sleep } from 'node:timers/promises';
import { ChainUnreadable } from './unreadable.js';

/** What is left of a look's time for bringing home what it has found. */
const FOR_THE_RETURN_MS = 1000;

/**
 * The time of one look. It ends twice: first it begins no more requests, so that a search returns its place, then the
 * requests under way are cut off.
 */
export class Look {
  readonly #end = new AbortController();
  readonly #timers: NodeJS.Timeout[];
  readonly #retryPauseMs: number;
  #isEnding = false;
  #chainTime: Date | undefined;

  constructor({ withinMs, retryPauseMs }: { withinMs: number; retryPauseMs: number }) {
    this.#retryPauseMs = retryPauseMs;
    const untilEndingMs = withinMs - Math.min(FOR_THE_RETURN_MS, withinMs / 2);
    this.#timers = [
      setTimeout(() => {
        this.#isEnding = true;
      }, untilEndingMs),
      setTimeout(() => this.cut(`the endpoint took longer than ${withinMs} ms`), withinMs),
    ];
  }

  get signal(): AbortSignal {
    return this.#end.signal;
  }

  get isEnding(): boolean {
    return this.#isEnding || this.isCut;
  }

  get isCut(): boolean {
    return this.#end.signal.aborted;
  }

  /** The time of the newest block that the look has seen. */
  get chainTime(): Date | undefined {
    return this.#chainTime;
  }

  saw(blockTime: Date): void {
    if (this.#chainTime === undefined || blockTime > this.#chainTime) this.#chainTime = blockTime;
  }

  requireTime(): void {
    if (this.isEnding) throw new ChainUnreadable("the look's time is over");
  }

  /** Before a node that lags is asked again. */
  async pause(): Promise<void> {
    if (this.#retryPauseMs > 0) await sleep(this.#retryPauseMs);
  }

  cut(reason: string): void {
    this.#end.abort(new ChainUnreadable(reason));
  }

  close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
  }
}
