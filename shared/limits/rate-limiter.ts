/** Spaces calls to a service: each call gets a turn, one interval after the previous turn and not during a pause. */
export interface RateLimiter {
  /** Takes the next free turn. A turn later than `withinMs` from now is not granted, and stays free. */
  take(withinMs: number): Promise<Turn>;
  /** The remaining time of the pause; 0 without one. */
  pausedMs(): Promise<number>;
  /** Grants no turn for `ms`, as the service has asked. The longest pause applies. */
  pause(ms: number): void;
}

export interface Turn {
  granted: boolean;
  /** Milliseconds until the turn comes, or would have come. */
  waitMs: number;
}

/** Paces the calls of this process; `intervalMs` may change. */
export function openRateLimiter(
  intervalMs: () => number,
  nowMs: () => number = () => performance.now(),
): RateLimiter {
  let nextAtMs = 0;
  let pausedUntilMs = 0;
  return {
    async take(withinMs) {
      const at = nowMs();
      const turnAt = Math.max(at, nextAtMs, pausedUntilMs);
      const granted = turnAt - at <= withinMs;
      if (granted) nextAtMs = turnAt + intervalMs();
      return { granted, waitMs: Math.ceil(turnAt - at) };
    },
    pausedMs: async () => Math.max(0, Math.ceil(pausedUntilMs - nowMs())),
    pause(ms) {
      pausedUntilMs = Math.max(pausedUntilMs, nowMs() + ms);
    },
  };
}
