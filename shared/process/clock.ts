/**
 * The only source of the current time, so that tests can move it. It follows Postgres' clock: processes read each
 * other's times, and the clocks of their hosts may differ.
 */
let offsetMs = 0;
let correctionMs = 0;

export function nowMs(): number {
  return Date.now() + correctionMs + offsetMs;
}

export function now(): Date {
  return new Date(nowMs());
}

/** The host's clock without the correction to Postgres' clock: for times that another service compares with its own clock. */
export function hostNowMs(): number {
  return Date.now() + offsetMs;
}

/** Both clocks, for rules that wait until both have passed a time. */
export function times(): { now: Date; own: Date } {
  return { now: now(), own: new Date(hostNowMs()) };
}

/** The earlier of the host's and Postgres' time: for deadlines that must not be judged as passed too soon. */
export function earlierNowMs(): number {
  return Math.min(nowMs(), hostNowMs());
}

/** The host's clock; it keeps running while a test mocks Date.now. */
export const unmockedHostMs: () => number = Date.now;

/**
 * Postgres read its clock at an unknown moment between the question and its answer. The correction moves only as far as
 * these two bounds require, so a slow answer changes little and equal clocks stay equal.
 */
export function correctClock(
  postgresMs: number,
  { askedAtMs, answeredAtMs }: { askedAtMs: number; answeredAtMs: number },
): void {
  // Date.now rounds down to whole milliseconds.
  const least = Math.ceil(postgresMs - (answeredAtMs + 1));
  const most = Math.floor(postgresMs - askedAtMs);
  correctionMs = Math.min(Math.max(correctionMs, least), Math.max(most, least));
}

/** Milliseconds by which Postgres' clock is ahead of the host's. */
export function clockCorrectionMs(): number {
  return correctionMs;
}

/** For tests. */
export function advanceClock(ms: number): void {
  offsetMs += ms;
}

/** For tests. */
export function resetClock(): void {
  offsetMs = 0;
  for (const listener of resetListeners) listener();
}

const resetListeners: (() => void)[] = [];

/** For modules that remember a time of the advanced clock. */
export function onClockReset(listener: () => void): void {
  resetListeners.push(listener);
}
