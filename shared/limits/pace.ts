/** When each call may go out, so that they are so far apart, and none while everybody was asked to wait. */
export interface Pace {
  /** Takes the next free turn, unless that is later than so many milliseconds from now: then nothing is taken. */
  take(withinMs: number): Promise<Turn>;
  /** For how long everybody is still asked to wait. */
  pausedMs(): Promise<number>;
  pause(ms: number): void;
}

export interface Turn {
  granted: boolean;
  /** Until it comes, or would have come. */
  waitMs: number;
}

/** This process by itself; `intervalMs` lies between two calls, and may change. */
export function ownPace(intervalMs: () => number, nowMs: () => number = () => performance.now()): Pace {
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
