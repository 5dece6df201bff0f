import type { Pace, Turn } from './pace.js';
import { askSeldom } from './shared-answer.js';

/** Of a Redis: one script on one key. */
export interface TurnStore {
  run(script: string, key: string, ...values: number[]): Promise<unknown>;
}

export interface SharedPaceOptions {
  store: TurnStore;
  key: string;
  /** Between two calls of all processes; undefined: they may go out at any time. */
  intervalMs: number | undefined;
  /** While the store does not answer. */
  alone: Pace;
}

/** What lies in it for longer than the longest pause is of no use. */
const KEPT_MS = 120_000;
/** Where calls are not counted, a pause that somebody was asked for is heard of this late at most. */
const LOOK_EVERY_MS = 100;

const TIME = `
  local time = redis.call('TIME')
  local now = time[1] * 1000 + time[2] / 1000`;

/** Turns are given away in the order of asking, whichever process asks; what is too late for it takes none. */
const TAKE = `${TIME}
  local kept = redis.call('HMGET', KEYS[1], 'next', 'paused')
  local turn = math.max(now, tonumber(kept[1]) or 0, tonumber(kept[2]) or 0)
  local wait = math.ceil(turn - now)
  if wait > tonumber(ARGV[2]) then return {0, wait} end
  redis.call('HSET', KEYS[1], 'next', string.format('%.3f', turn + tonumber(ARGV[1])))
  redis.call('PEXPIRE', KEYS[1], wait + math.ceil(tonumber(ARGV[1])) + ${KEPT_MS})
  return {1, wait}`;

const LOOK = `${TIME}
  local paused = tonumber(redis.call('HGET', KEYS[1], 'paused')) or 0
  return {1, math.max(0, math.ceil(paused - now))}`;

const PAUSE = `${TIME}
  local paused = math.max(now + tonumber(ARGV[1]), tonumber(redis.call('HGET', KEYS[1], 'paused')) or 0)
  redis.call('HSET', KEYS[1], 'paused', string.format('%.3f', paused))
  redis.call('PEXPIRE', KEYS[1], math.max(redis.call('PTTL', KEYS[1]), math.ceil(paused - now) + ${KEPT_MS}))
  return {1, 0}`;

/** Of all processes together. A store that is away or hangs leaves each to its own pace. */
export function sharedPace({ store, key, intervalMs, alone }: SharedPaceOptions): Pace {
  const seldom = askSeldom<number>({ forMs: LOOK_EVERY_MS, keys: 1 });
  const ask = async (script: string, ...values: number[]): Promise<Turn> => {
    const [granted, waitMs] = (await store.run(script, key, ...values)) as [number, number];
    return { granted: granted === 1, waitMs };
  };
  const look = async (): Promise<number> => {
    const shared = await ask(LOOK).catch(() => ({ waitMs: 0 }));
    return Math.max(shared.waitMs, await alone.pausedMs());
  };
  const pausedMs = (): Promise<number> => seldom('', look);

  return {
    async take(withinMs) {
      if (intervalMs === undefined) {
        const waitMs = await pausedMs();
        return { granted: waitMs <= withinMs, waitMs };
      }
      try {
        return await ask(TAKE, intervalMs, withinMs);
      } catch {
        return await alone.take(withinMs);
      }
    },
    pausedMs,
    pause(ms) {
      alone.pause(ms);
      ask(PAUSE, ms).catch(() => undefined); // Then only this process knows of it.
    },
  };
}
