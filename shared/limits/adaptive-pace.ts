/** Calls that have started together. */
export interface Started {
  calls: number;
  /** How many of them count among the calls in flight. */
  slots: number;
  atMs: number;
}

export interface PaceOptions {
  firstPauseMs?: number;
  longestPauseMs?: number;
  /** A limit is over when calls are answered this long after the last one. */
  overAfterMs?: number;
  onLimited?: (pauseMs: number) => void;
  onLimitOver?: () => void;
  nowMs?: () => number;
}

const FIRST_IN_FLIGHT = 8;
const MOST_IN_FLIGHT = 64;
/** Calls a second. */
const LOWEST_RATE = 0.5;
/** The part of the rate that met the limit with which the calls go on. */
const RATE_AFTER_LIMIT = 0.8;
/** The rate's growth for each answered call: below, near and above the rate that met the limit, which may have moved. */
const GROWTH = { below: 1.1, near: 1.002, above: 1.02 };
const NEAR_LIMIT = { from: 0.9, to: 1.1 };
/** Each answered call shortens the next pause to this part: three halve it. */
const PAUSE_DECAY = 0.8;
/** Timers are late by some milliseconds: this much of the lost time is made up for. */
const MADE_UP_MS = 50;

/**
 * The pace of calls to a service whose limits are unknown, learned from its answers. Without a limit only the calls in
 * flight are bounded: twice as many after each round of answers, half after a failure. After a limit all calls pause
 * together, twice as long each time until calls are answered again, and then are spaced by a rate that starts below the rate
 * that met the limit and grows slowly.
 */
export class AdaptivePace {
  readonly #options: PaceOptions;
  readonly #firstPauseMs: number;
  readonly #longestPauseMs: number;
  readonly #overAfterMs: number;
  readonly #nowMs: () => number;
  readonly #answers = new LastSecond();
  #inFlight = 0;
  #window = FIRST_IN_FLIGHT;
  #windowAtLimit = MOST_IN_FLIGHT;
  /** Calls a second; undefined without a limit. */
  #rate: number | undefined;
  #rateAtLimit = Number.POSITIVE_INFINITY;
  #nextAtMs = 0;
  #pausedUntilMs = 0;
  #nextPauseMs: number;
  #limitedAtMs = Number.NEGATIVE_INFINITY;
  #isLimited = false;
  #hasAnsweredSince = true;

  constructor(options: PaceOptions = {}) {
    this.#options = options;
    this.#firstPauseMs = options.firstPauseMs ?? 500;
    this.#longestPauseMs = options.longestPauseMs ?? 30_000;
    this.#overAfterMs = options.overAfterMs ?? 60_000;
    this.#nowMs = options.nowMs ?? (() => performance.now());
    this.#nextPauseMs = this.#firstPauseMs;
  }

  /** How many calls may start now. */
  get free(): number {
    return this.freeAmong(Math.floor(this.#window) - this.#inFlight);
  }

  /** How many calls may start now by pause and rate, if there are so many slots for them. */
  freeAmong(slots: number): number {
    if (this.waitMs > 0) return 0;
    // A batch that exceeds the rest of its second is limited as a whole: a quarter of a second's calls start at once.
    const atOnce = this.#rate === undefined ? slots : Math.max(1, Math.floor(this.#rate / 4));
    return Math.max(0, Math.min(slots, atOnce));
  }

  /** Milliseconds until a call may start by pause and rate; 0 when only the end of another call lets it start. */
  get waitMs(): number {
    return Math.max(0, Math.ceil(Math.max(this.#pausedUntilMs, this.#nextAtMs) - this.#nowMs()));
  }

  /** The rest of the pause. */
  get pausedMs(): number {
    return Math.max(0, Math.ceil(this.#pausedUntilMs - this.#nowMs()));
  }

  /** True from the first limited call until a call is answered long after the last limited one. */
  get isLimited(): boolean {
    return this.#isLimited;
  }

  /** The caller passes the result to one of the other functions when the calls end. */
  start(calls: number, slots: number = calls): Started {
    const atMs = this.#nowMs();
    this.#inFlight += slots;
    this.#nextAtMs = Math.max(this.#nextAtMs, atMs - MADE_UP_MS) + calls * this.#intervalMs();
    return { calls, slots, atMs };
  }

  answered({ calls, slots }: Started): void {
    const atMs = this.#nowMs();
    this.#inFlight -= slots;
    this.#hasAnsweredSince = true;
    this.#answers.add(atMs, calls);
    this.#widen(slots);
    this.#speedUp(calls);
    this.#nextPauseMs = Math.max(this.#nextPauseMs * PAUSE_DECAY ** calls, this.#firstPauseMs);
    if (!this.#isLimited || atMs - this.#limitedAtMs < this.#overAfterMs) return;
    this.#isLimited = false;
    this.#rate = undefined;
    this.#options.onLimitOver?.();
  }

  /** `retryAfterMs`: the pause that the service asks for. */
  limited({ slots, atMs: startedAtMs }: Started, retryAfterMs: number | undefined): void {
    const atMs = this.#nowMs();
    this.#inFlight -= slots;
    // Calls that were in flight when the pause began tell nothing new, except how long to wait.
    if (startedAtMs <= this.#limitedAtMs) {
      this.#pausedUntilMs = Math.max(this.#pausedUntilMs, atMs + (retryAfterMs ?? 0));
      return;
    }
    this.#pause(atMs, retryAfterMs);
    this.#slowDown(atMs);
    this.#hasAnsweredSince = false;
    this.#limitedAtMs = atMs;
    if (this.#isLimited) return;
    this.#isLimited = true;
    this.#options.onLimited?.(this.#pausedUntilMs - atMs);
  }

  failed({ slots }: Started): void {
    this.#inFlight -= slots;
    if (slots > 0) this.#window = Math.max(1, this.#window / 2);
  }

  /** Milliseconds between two calls; no longer than the longest pause. */
  #intervalMs(): number {
    return this.#rate === undefined ? 0 : Math.min(1000 / this.#rate, this.#longestPauseMs);
  }

  #pause(atMs: number, retryAfterMs: number | undefined): void {
    const askedMs = retryAfterMs ?? this.#nextPauseMs;
    // A service that limits again right after the pause that it asked for gets a longer one.
    const ms = this.#hasAnsweredSince ? askedMs : Math.max(askedMs, this.#nextPauseMs);
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, atMs + ms);
    this.#nextPauseMs = Math.min(this.#nextPauseMs * 2, this.#longestPauseMs);
  }

  #slowDown(atMs: number): void {
    const met = this.#rate ?? this.#answers.count(atMs);
    // The answers before the first limit say little about the rate that the service allows.
    if (this.#hasAnsweredSince) this.#rateAtLimit = this.#rate ?? Number.POSITIVE_INFINITY;
    this.#rate = Math.max(met * RATE_AFTER_LIMIT, LOWEST_RATE);
    this.#window = Math.max(1, this.#window / 2);
    this.#windowAtLimit = this.#window;
  }

  #widen(slots: number): void {
    const more = this.#window < this.#windowAtLimit ? slots : slots / this.#window;
    this.#window = Math.min(this.#window + more, MOST_IN_FLIGHT);
  }

  #speedUp(calls: number): void {
    if (this.#rate === undefined) return;
    const part = this.#rate / this.#rateAtLimit;
    const growth = part < NEAR_LIMIT.from ? GROWTH.below : part < NEAR_LIMIT.to ? GROWTH.near : GROWTH.above;
    this.#rate = Math.min(this.#rate * growth ** calls, Math.max(this.#rateAtLimit, this.#rate * growth));
  }
}

const SLICE_MS = 100;
const SLICES = 10;

/** Counts what happened in the last second, in slices of a tenth. */
class LastSecond {
  readonly #slices = new Map<number, number>();

  add(atMs: number, count: number): void {
    const slice = Math.floor(atMs / SLICE_MS);
    this.#slices.set(slice, (this.#slices.get(slice) ?? 0) + count);
    this.#forget(slice);
  }

  count(atMs: number): number {
    this.#forget(Math.floor(atMs / SLICE_MS));
    return [...this.#slices.values()].reduce((sum, count) => sum + count, 0);
  }

  #forget(now: number): void {
    for (const slice of this.#slices.keys()) if (slice <= now - SLICES) this.#slices.delete(slice);
  }
}
