/** The server's time, from its answers: the clock of a merchant's machine may be wrong. */
let offsetMs = performance.timeOrigin;

export function nowSeconds(): number {
  return Math.floor((offsetMs + performance.now()) / 1000);
}

/** `date` is the header Date of an answer. */
export function syncClock(date: string | null): void {
  const ms = Date.parse(date ?? '');
  if (Number.isFinite(ms)) offsetMs = ms - performance.now();
}
