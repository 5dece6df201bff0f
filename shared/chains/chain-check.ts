import { setTimeout as sleep } from 'node:timers/promises';
import { ChainUnreadable } from './unreadable.js';

/** The part of a check's time that is reserved for returning its finding: a tenth, within these bounds. */
const MIN_RETURN_MS = 50;
const MAX_RETURN_MS = 1000;

/**
 * The time limit of one chain check. It has two ends: at the first no more requests are sent, so that a search returns
 * its position; at the second the requests in flight are aborted.
 */
export class ChainCheck {
  readonly #ending = new AbortController();
  readonly #end = new AbortController();
  readonly #timers: NodeJS.Timeout[];
  readonly #retryPauseMs: number;
  #chainTime: Date | undefined;

  constructor({ withinMs, retryPauseMs }: { withinMs: number; retryPauseMs: number }) {
    this.#retryPauseMs = retryPauseMs;
    this.#timers = [
      setTimeout(() => this.#ending.abort(), withinMs - returnTimeMs(withinMs)),
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

  /** The time of the newest block that the check has seen. */
  get chainTime(): Date | undefined {
    return this.#chainTime;
  }

  saw(blockTime: Date): void {
    if (this.#chainTime === undefined || blockTime > this.#chainTime) this.#chainTime = blockTime;
  }

  requireTime(): void {
    if (this.isEnding) throw new ChainUnreadable("the check's time is over");
  }

  /** Waits before a lagging node is called again, at most until the check's first end. */
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

function returnTimeMs(withinMs: number): number {
  const tenth = Math.min(Math.max(withinMs / 10, MIN_RETURN_MS), MAX_RETURN_MS);
  return Math.min(tenth, withinMs / 2);
}
