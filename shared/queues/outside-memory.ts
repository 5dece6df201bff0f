import type { Position } from '../db/commit-memory.js';
import type { RedisClient } from './connection.js';
import { QUEUE_PREFIX } from './queue-settings.js';

/**
 * Redis as a memory outside Postgres: the furthest position that a process has read, for processes that start after a
 * failover, and the databases whose processes use this Redis. Each key is used alone, since a cluster spreads them.
 */
export interface OutsideMemory {
  readPosition(): Promise<{ position: Position; readAt: Date } | undefined>;
  /** Replaces an earlier position only, unless Postgres has gone back. */
  writePosition(position: Position, readAt: Date, has: 'advanced' | 'gone_back'): Promise<void>;
  /** Enters this process, and returns the names of all databases whose processes have been here lately. */
  enter(): Promise<string[]>;
  leave(): Promise<void>;
}

interface Owner {
  /** The installation's id. */
  id: string;
  /** Tells databases with one installation id apart: a copy has the id of its original. */
  database: string;
  process: string;
}

const PRESENT_KEY = `${QUEUE_PREFIX}:databases`;
/** A killed process is forgotten after this time. */
const PRESENT_SECONDS = 30;

const WRITE_POSITION = `
  local kept = redis.call('HMGET', KEYS[1], 'server', 'timeline', 'flushed')
  local timeline, flushed = tonumber(kept[2]) or 0, tonumber(kept[3]) or 0
  local isFurther = tonumber(ARGV[2]) > timeline or (tonumber(ARGV[2]) == timeline and tonumber(ARGV[3]) >= flushed)
  if ARGV[5] == 'gone_back' or isFurther then
    redis.call('HSET', KEYS[1], 'server', ARGV[1], 'timeline', ARGV[2], 'flushed', ARGV[3], 'at', ARGV[4])
  end
  return 1`;

/** An entry from the future is older than a step of Redis' clock. */
const ENTER = `
  local now = tonumber(redis.call('TIME')[1])
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ${PRESENT_SECONDS})
  redis.call('ZREMRANGEBYSCORE', KEYS[1], now + ${PRESENT_SECONDS}, '+inf')
  redis.call('ZADD', KEYS[1], now, ARGV[1])
  redis.call('EXPIRE', KEYS[1], ${2 * PRESENT_SECONDS})
  return redis.call('ZRANGE', KEYS[1], 0, -1)`;

export function openOutsideMemory(redis: RedisClient, { id, database, process }: Owner): OutsideMemory {
  const positionKey = `${QUEUE_PREFIX}:${id}:position`;
  const entry = `${id} ${database} ${process}`;
  return {
    async readPosition() {
      const { server, timeline, flushed, at } = await redis.hgetall(positionKey);
      if (timeline === undefined || flushed === undefined || at === undefined) return undefined;
      return {
        position: {
          server: server || null,
          timeline: Number(timeline),
          flushed: Number(flushed),
          beganBy: Number(flushed),
        },
        readAt: new Date(Number(at)),
      };
    },
    async writePosition({ server, timeline, flushed }, readAt, has) {
      const values = [server ?? '', timeline, flushed, readAt.getTime(), has];
      await redis.eval(WRITE_POSITION, 1, positionKey, ...values);
    },
    async enter() {
      const entries = await redis.eval(ENTER, 1, PRESENT_KEY, entry);
      if (!Array.isArray(entries)) return [];
      return [...new Set(entries.map((one) => String(one).split(' ').slice(0, 2).join(' ')))];
    },
    async leave() {
      await redis.zrem(PRESENT_KEY, entry);
    },
  };
}
