/** The calls in flight of one network, or of one account there, and the turns of payments that found no slot. */
export interface CallsInFlight {
  readonly count: number;
  /** A call begins; the function ends it. */
  begin(): () => void;
  /** True when calls are in flight and none was answered lately. */
  hangs(): boolean;
  /** Slots get free one after the other, so payments that are refused together get different turns. */
  nextTurnMs(): number;
}

/** Calls without an answer for so long hang. */
const HANGS_AFTER_MS = 1000;
const LEAST_TURN_MS = 1000;
/** The calls may be answered at any time: no payment waits for longer before it looks for a slot again. */
const LONGEST_TURN_MS = 15_000;

export function openCallsInFlight(nowMs: () => number = () => performance.now()): CallsInFlight {
  /** When each call began, the oldest first. */
  const inFlight = new Map<symbol, number>();
  let lastEnd = Number.NEGATIVE_INFINITY;
  let lastTurn = Number.NEGATIVE_INFINITY;

  const oldestMs = (): number => {
    const [oldest] = inFlight.values();
    return oldest === undefined ? 0 : nowMs() - oldest;
  };

  return {
    get count() {
      return inFlight.size;
    },
    begin() {
      const call = Symbol('call');
      inFlight.set(call, nowMs());
      return () => {
        inFlight.delete(call);
        lastEnd = nowMs();
      };
    },
    hangs: () => oldestMs() > HANGS_AFTER_MS && nowMs() - lastEnd > HANGS_AFTER_MS,
    nextTurnMs() {
      const betweenEnds = oldestMs() / Math.max(1, inFlight.size);
      const turn = Math.max(nowMs() + LEAST_TURN_MS, lastTurn + betweenEnds);
      lastTurn = Math.min(turn, nowMs() + LONGEST_TURN_MS);
      return Math.ceil(lastTurn - nowMs());
    },
  };
}
