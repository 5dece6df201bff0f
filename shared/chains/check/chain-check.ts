import { setTimeout as sleep } from 'node:timers/promises';
import { Countdown } from '../../process/countdown.js';
import { ChainUnreadable } from './unreadable.js';

/** The part of a check's time that is reserved for returning its finding: a tenth, within these bounds. */
const MIN_RETURN_MS = 50;
const MAX_RETURN_MS = 1000;

interface CheckTimes {
  withinMs: number;
  /** How long the check's calls may wait for their turns, in sum. */
  turnsWithinMs: number;
  retryPauseMs: number;
}

/**
 * The time limit of one chain check. It has two ends: at the first no more requests are sent, so that a search returns
 * its position; at the second the requests in flight are aborted. The time stands still while the check only waits for its
 * turn at the endpoint, which has a limit of its own.
 */
export class ChainCheck {
  readonly #ending = new AbortController();
  readonly #end = new AbortController();
  readonly #running: readonly Countdown[];
  readonly #turns: Countdown;
  readonly #retryPauseMs: number;
  readonly #waiting = new Set<() => Error>();
  #inFlight = 0;
  #isClosed = false;
  #chainTime: Date | undefined;

  constructor({ withinMs, turnsWithinMs, retryPauseMs }: CheckTimes) {
    this.#retryPauseMs = retryPauseMs;
    this.#running = [
      new Countdown(withinMs - returnTimeMs(withinMs), () => this.#ending.abort()),
      new Countdown(withinMs, () => this.cut(`the endpoint took longer than ${withinMs} ms`)),
    ];
    this.#turns = new Countdown(turnsWithinMs, () => this.#endWaiting());
    for (const countdown of this.#running) countdown.start();
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
    this.signal.throwIfAborted();
    if (this.isEnding) throw new ChainUnreadable("the check's time is over");
  }

  /** Waits before a lagging node is called again, at most until the check's first end. */
  async pause(): Promise<void> {
    if (this.#retryPauseMs === 0) return;
    await sleep(this.#retryPauseMs, undefined, { signal: this.#ending.signal }).catch((error: unknown) => {
      if (!this.isEnding) throw error;
    });
  }

  /** Whether calls of the check wait for their turn and none is in flight. */
  get isWaiting(): boolean {
    return this.#waiting.size > 0 && this.#inFlight === 0;
  }

  /** A call waits for its turn until the returned function is called; `reason` says why when the wait takes too long. */
  waitForTurn(reason: () => Error): () => void {
    this.#waiting.add(reason);
    this.#keepTime();
    return () => {
      this.#waiting.delete(reason);
      this.#keepTime();
    };
  }

  /** A call is in flight until the returned function is called. */
  beginCall(): () => void {
    this.#inFlight += 1;
    this.#keepTime();
    return () => {
      this.#inFlight -= 1;
      this.#keepTime();
    };
  }

  cut(reason: string | Error): void {
    this.#ending.abort();
    this.#end.abort(reason instanceof Error ? reason : new ChainUnreadable(reason));
  }

  close(): void {
    for (const countdown of [...this.#running, this.#turns]) countdown.stop();
    this.#isClosed = true;
  }

  #keepTime(): void {
    if (this.#isClosed) return;
    const [stopping, starting] = this.isWaiting
      ? [this.#running, [this.#turns]]
      : [[this.#turns], this.#running];
    for (const countdown of stopping) countdown.stop();
    for (const countdown of starting) countdown.start();
  }

  #endWaiting(): void {
    const [reason] = this.#waiting;
    if (reason !== undefined) this.cut(reason());
  }
}

function returnTimeMs(withinMs: number): number {
  const tenth = Math.min(Math.max(withinMs / 10, MIN_RETURN_MS), MAX_RETURN_MS);
  return Math.min(tenth, withinMs / 2);
}
