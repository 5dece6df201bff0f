import type { RateLimiter, Turn } from './rate-limiter.js';
import { shareAnswers } from './share-answers.js';

/** Redis: runs one script on one key. */
interface TurnStore {
  run(script: string, key: string, ...values: number[]): Promise<unknown>;
}

export interface SharedRateOptions {
  store: TurnStore;
  key: string;
  /** Milliseconds between two calls of all processes; undefined where only pauses are shared and calls are not spaced. */
  intervalMs: number | undefined;
  /** This process's own limiter, used while the store does not answer. */
  alone: RateLimiter;
}

/** The key expires this long after its last turn: longer than the longest pause. */
const KEPT_MS = 120_000;
/** Where calls are not spaced, a process learns of another process's pause at most this late. */
const READ_PAUSE_EVERY_MS = 100;

/** No turn and no pause lies further ahead: a turn is asked for at most 15 s ahead, and a pause lasts at most a minute. */
const LONGEST_WAIT_MS = 90_000;

/**
 * Times are kept with the time at which they were written. When Redis' clock has been set back since, the remaining time of
 * then counts as the remaining time of now, and is written down, so that it passes.
 */
const TIME = `
  local time = redis.call('TIME')
  local now = time[1] * 1000 + time[2] / 1000
  local kept = redis.call('HMGET', KEYS[1], 'next', 'paused', 'at')
  local next, paused, at = tonumber(kept[1]) or 0, tonumber(kept[2]) or 0, tonumber(kept[3]) or now
  if at > now then
    next, paused = next - at + now, paused - at + now
    redis.call('HSET', KEYS[1], 'next', string.format('%.3f', next), 'paused', string.format('%.3f', paused),
      'at', string.format('%.3f', now))
  end
  if next - now > ${LONGEST_WAIT_MS} then next = now end
  if paused - now > ${LONGEST_WAIT_MS} then paused = now end`;

/** Grants turns to all processes in the order in which they ask. A turn that is too late for the caller is not granted. */
const TAKE = `${TIME}
  local turn = math.max(now, next, paused)
  local wait = math.ceil(turn - now)
  if wait > tonumber(ARGV[2]) then return {0, wait} end
  redis.call('HSET', KEYS[1], 'next', string.format('%.3f', turn + tonumber(ARGV[1])), 'at', string.format('%.3f', now))
  redis.call('PEXPIRE', KEYS[1], wait + math.ceil(tonumber(ARGV[1])) + ${KEPT_MS})
  return {1, wait}`;

const READ_PAUSE = `${TIME}
  return {1, math.max(0, math.ceil(paused - now))}`;

const PAUSE = `${TIME}
  paused = math.max(now + tonumber(ARGV[1]), paused)
  redis.call('HSET', KEYS[1], 'paused', string.format('%.3f', paused), 'at', string.format('%.3f', now))
  redis.call('PEXPIRE', KEYS[1], math.max(redis.call('PTTL', KEYS[1]), math.ceil(paused - now) + ${KEPT_MS}))
  return {1, 0}`;

/** Spaces the calls of all processes to one facilitator. While the store is unavailable each process uses its own limiter. */
export function openSharedRateLimiter({ store, key, intervalMs, alone }: SharedRateOptions): RateLimiter {
  const shared = shareAnswers<number>({ forMs: READ_PAUSE_EVERY_MS, keys: 1 });
  const ask = async (script: string, ...values: number[]): Promise<Turn> => {
    const [granted, waitMs] = (await store.run(script, key, ...values)) as [number, number];
    return { granted: granted === 1, waitMs };
  };
  const readPause = async (): Promise<number> => {
    const { waitMs } = await ask(READ_PAUSE).catch(() => ({ waitMs: 0 }));
    return waitMs;
  };
  // This process's own pause counts at once, also while the shared answer is older.
  const pausedMs = async (): Promise<number> => Math.max(await shared('', readPause), await alone.pausedMs());

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
      ask(PAUSE, ms).catch(() => undefined); // The pause then applies in this process alone.
    },
  };
}
