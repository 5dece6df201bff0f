import { setTimeout as sleep } from 'node:timers/promises';
import { ChainUnreadable } from './unreadable.js';

/** What is left of a look's time for bringing home what it has found: a tenth of it, within these. */
const LEAST_FOR_THE_RETURN_MS = 50;
const MOST_FOR_THE_RETURN_MS = 1000;

/**
 * The time of one look. It ends twice: first it begins no more requests, so that a search returns its place, then the
 * requests under way are cut off.
 */
export class Look {
  readonly #ending = new AbortController();
  readonly #end = new AbortController();
  readonly #timers: NodeJS.Timeout[];
  readonly #retryPauseMs: number;
  #chainTime: Date | undefined;

  constructor({ withinMs, retryPauseMs }: { withinMs: number; retryPauseMs: number }) {
    this.#retryPauseMs = retryPauseMs;
    this.#timers = [
      setTimeout(() => this.#ending.abort(), withinMs - forTheReturnMs(withinMs)),
      setTimeout(() => this.cut(`the endpoint took longer than ${withinMs} ms`), withinMs),
    ];
  }

  get signal(): AbortSignal {
    return this.#end.signal;
  }

  get isEnding(): boolean {
    return this.#ending.signal.aborted;
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

  /** Before a node that lags is asked again; not beyond the look's time. */
  async pause(): Promise<void> {
    if (this.#retryPauseMs === 0) return;
    await sleep(this.#retryPauseMs, undefined, { signal: this.#ending.signal }).catch((error: unknown) => {
      if (!this.isEnding) throw error;
    });
  }

  cut(reason: string): void {
    this.#ending.abort();
    this.#end.abort(new ChainUnreadable(reason));
  }

  close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
  }
}

function forTheReturnMs(withinMs: number): number {
  const tenth = Math.min(Math.max(withinMs / 10, LEAST_FOR_THE_RETURN_MS), MOST_FOR_THE_RETURN_MS);
  return Math.min(tenth, withinMs / 2);
}
