import { createdAt } from '../values/ids.js';

/** Whole Unix seconds, rounded down. */
export function unixSeconds(time: Date): number {
  return Math.floor(time.getTime() / 1000);
}

export function createdSeconds(id: string): number {
  return unixSeconds(createdAt(id));
}

export function unixSecondsOrNull(time: Date | null): number | null {
  return time === null ? null : unixSeconds(time);
}

/** RFC 3339 in whole seconds, like all times on the wire. */
export function utcText(time: Date): string {
  return time.toISOString().replace(/\.\d+Z$/, 'Z');
}

/** The day in UTC. */
export function dateText(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
