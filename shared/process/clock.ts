/**
 * The only source of the current time, so that tests can move it. Everything else takes a Date. It follows Postgres'
 * clock: times that one process writes are read by others, and the clocks of their machines may differ.
 */
let offsetMs = 0;
let correctionMs = 0;

export function nowMs(): number {
  return Date.now() + correctionMs + offsetMs;
}

export function now(): Date {
  return new Date(nowMs());
}

/** By this machine's clock alone: for whoever compares it with theirs, as those do who check our tokens. */
export function ownNowMs(): number {
  return Date.now() + offsetMs;
}

/** By the later of the two clocks it is not so late yet: for what must not be called over too soon. */
export function cautiousNowMs(): number {
  return Math.min(nowMs(), ownNowMs());
}

/** This machine's own clock, to be compared with Postgres'; it goes on when a test makes Date.now stand still. */
export const machineMs: () => number = Date.now;

/**
 * Postgres' time was read somewhere between the question and its answer. The correction is moved no further than that
 * makes sure of, so clocks that may be equal are, and an answer that took long changes little.
 */
export function correctClock(
  postgresMs: number,
  { askedAtMs, answeredAtMs }: { askedAtMs: number; answeredAtMs: number },
): void {
  // The machine's clock is read in whole milliseconds, rounded down.
  const least = Math.ceil(postgresMs - (answeredAtMs + 1));
  const most = Math.floor(postgresMs - askedAtMs);
  correctionMs = Math.min(Math.max(correctionMs, least), Math.max(most, least));
}

/** By how much Postgres' clock is ahead of this machine's. */
export function clockCorrectionMs(): number {
  return correctionMs;
}

/** Moves this process's clock, for tests. */
export function travelMs(ms: number): void {
  offsetMs += ms;
}

export function returnToPresent(): void {
  offsetMs = 0;
  for (const forget of whatWasRemembered) forget();
}

const whatWasRemembered: (() => void)[] = [];

/** For what remembers a time of the moved clock. */
export function onReturnToPresent(forget: () => void): void {
  whatWasRemembered.push(forget);
}
