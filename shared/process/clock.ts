/**
 * The only source of the current time, so that tests can move it. It follows Postgres' clock: processes read each
 * other's times, and the clocks of their hosts may differ.
 */
let offsetMs = 0;
let correctionMs = 0;
/** Milliseconds by which the host's clock has jumped forward since Postgres' clock was last read. */
let unconfirmedMs = 0;
/** Until Postgres' clock is read, times are the host's. */
let isRead = false;
/** The number of times that this process has seen Postgres' clock set back. */
let setBacks = 0;

/** A host's clock that jumps by more, against the monotonic clock, was set. */
const STEP_MS = 250;
/** Clocks that differ by more disagree: then nothing that cannot be taken back is decided by one of them. */
export const DISAGREE_MS = 30_000;

export function nowMs(): number {
  return readHostMs() + correctionMs + offsetMs;
}

export function now(): Date {
  return new Date(nowMs());
}

/** The host's clock without the correction to Postgres' clock: for times that another service compares with its own clock. */
export function hostNowMs(): number {
  return readHostMs() + offsetMs;
}

/** The time at which `Date.now()` of this host will say that `at` has come, for libraries that read it. */
export function hostTimeOf(at: Date): number {
  return Date.now() + (at.getTime() - nowMs());
}

/** Both clocks, for rules that wait until both have passed a time. */
export function times(): { now: Date; own: Date } {
  return { now: now(), own: new Date(hostNowMs() - unconfirmedMs) };
}

/** The earlier of the host's and Postgres' time: for deadlines that must not be judged as passed too soon. */
export function earlierNowMs(): number {
  return Math.min(nowMs(), hostNowMs()) - unconfirmedMs;
}

/** The later of the host's and Postgres' time. Events of the past happened before it. */
export function laterNowMs(): number {
  return Math.max(nowMs(), hostNowMs());
}

/**
 * The time in whole milliseconds, without a jump of the host's clock that Postgres has not confirmed: for times that outlast
 * the jump.
 */
export function confirmedNowMs(): number {
  return Math.floor(nowMs() - unconfirmedMs);
}

/** The earlier time while the clocks disagree, else Postgres': small differences must not make processes decide differently. */
export function certainNow(): Date {
  return new Date(doClocksDisagree() ? earlierNowMs() : nowMs());
}

export function doClocksDisagree(): boolean {
  return Math.abs(correctionMs) > DISAGREE_MS || unconfirmedMs > DISAGREE_MS;
}

/** The host's clock; it keeps running while a test mocks Date.now. */
export const unmockedHostMs: () => number = Date.now;

let aheadOfMonotonicMs = unmockedHostMs() - performance.now();

/**
 * A host's clock that is set between two readings of Postgres' clock: set back, the service's time goes on as before; set
 * forward, the service's time goes forward too, since a host that was suspended looks the same, and its leases are over.
 * `unconfirmedMs` keeps the jump from what cannot be taken back.
 */
function readHostMs(): number {
  const hostMs = Date.now();
  if (Date.now !== unmockedHostMs) return hostMs;
  const aheadMs = hostMs - performance.now();
  const stepMs = aheadMs - aheadOfMonotonicMs;
  aheadOfMonotonicMs = aheadMs;
  if (stepMs < -STEP_MS) correctionMs -= Math.round(stepMs);
  else if (stepMs > STEP_MS) unconfirmedMs += stepMs;
  return hostMs;
}

/**
 * Postgres read its clock at an unknown moment between the question and its answer. The correction moves only as far as
 * these two bounds require, so a slow answer changes little and equal clocks stay equal.
 */
export function correctClock(
  postgresMs: number,
  { askedAtMs, answeredAtMs }: { askedAtMs: number; answeredAtMs: number },
): void {
  // Notices a step of the host's clock first.
  readHostMs();
  const beforeMs = correctionMs;
  // Date.now rounds down to whole milliseconds.
  const least = Math.ceil(postgresMs - (answeredAtMs + 1));
  const most = Math.floor(postgresMs - askedAtMs);
  correctionMs = Math.min(Math.max(correctionMs, least), Math.max(most, least));
  // A correction that only undoes a jump of the host's clock is no step of Postgres' clock.
  if (correctionMs + unconfirmedMs < beforeMs - DISAGREE_MS) setBacks += 1;
  unconfirmedMs = 0;
  if (!isRead) forgetTimes();
  isRead = true;
}

/** How often Postgres' clock has been set back: due times that were written before lie too far ahead. */
export function postgresSetBacks(): number {
  return setBacks;
}

/** Milliseconds by which Postgres' clock is ahead of the host's. */
export function clockCorrectionMs(): number {
  return correctionMs;
}

/** Moves the time of tests. */
export function advanceClock(ms: number): void {
  offsetMs += ms;
}

/** Undoes the moves of `advanceClock`, and lets modules forget the times that they remember. */
export function resetClock(): void {
  offsetMs = 0;
  forgetTimes();
}

const resetListeners: (() => void)[] = [];

function forgetTimes(): void {
  for (const listener of resetListeners) listener();
}

/**
 * Calls modules that remember a time when they must forget it: a time of the host's clock before Postgres' clock was read, or
 * of the advanced clock.
 */
export function onClockReset(listener: () => void): void {
  resetListeners.push(listener);
}
