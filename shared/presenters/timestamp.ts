import { createdAt } from '../ids.js';

/** Unix seconds exist on the wire only. */
export function unixSeconds(time: Date): number {
  return Math.floor(time.getTime() / 1000);
}

export function createdSeconds(id: string): number {
  return unixSeconds(createdAt(id));
}
