import { lruCache } from '../limits/lru-cache.js';
import { HOUR_MS } from '../values/day.js';

const QUARTER_MS = 900_000;
/** Local time is at most 14 hours ahead of UTC, and 12 behind it. */
const AHEAD_MS = 14 * HOUR_MS;
const BEHIND_MS = 12 * HOUR_MS;
const LONGEST_NAME = 64;

export interface TimeZone {
  /** Milliseconds that local time is ahead of UTC at this time. */
  offsetMs(ms: number): number;
}

const UTC: TimeZone = { offsetMs: () => 0 };
const zones = lruCache<TimeZone>(100);

/** Undefined when the IANA table has no such zone. */
export function findTimeZone(name: string): TimeZone | undefined {
  if (name === 'UTC') return UTC;
  // Intl also takes offsets such as +02:00, which are not names.
  if (name.length > LONGEST_NAME || !/^[A-Za-z][\w+\-/]*$/.test(name)) return undefined;
  const known = zones.get(name);
  if (known !== undefined) return known;
  try {
    const zone = openTimeZone(name);
    zones.set(name, zone);
    return zone;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function openTimeZone(timeZone: string): TimeZone {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  return {
    offsetMs(ms) {
      const parts: Record<string, number> = {};
      for (const { type, value } of format.formatToParts(ms)) parts[type] = Number(value);
      const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
      return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(ms / 1000) * 1000;
    },
  };
}

/**
 * The first moment of a day in a time zone. The day is given by its midnight in UTC, whatever the zone. Where clocks are set
 * at midnight it may come twice, of which the first counts, or be left out, and then the day begins when they are set. A day
 * that a zone left out whole begins and ends at the same moment.
 */
export function startOfDay(zone: TimeZone, dayMs: number): number {
  const earlier = zone.offsetMs(dayMs - AHEAD_MS);
  const later = zone.offsetMs(dayMs + BEHIND_MS);
  if (earlier === later) return dayMs - earlier;
  const localAt = (ms: number): number => ms + zone.offsetMs(ms);
  const midnights = [dayMs - earlier, dayMs - later].filter((ms) => localAt(ms) === dayMs);
  if (midnights.length > 0) return Math.min(...midnights);
  let ms = dayMs - Math.max(earlier, later);
  while (localAt(ms) < dayMs) ms += QUARTER_MS;
  return ms;
}
