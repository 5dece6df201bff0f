/** The only source of the current time, so that tests can move it. Everything else takes a Date. */
let offsetMs = 0;

export function nowMs(): number {
  return Date.now() + offsetMs;
}

export function now(): Date {
  return new Date(nowMs());
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
