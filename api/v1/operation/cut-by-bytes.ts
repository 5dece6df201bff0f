import type { Sized } from '../../../shared/db/sized-columns.js';
import { ANSWER_PART_BYTES } from '../../../shared/limits/bounds.js';

/** Groups ids into parts of at most ANSWER_PART_BYTES. A larger object is a part by itself. */
export function cutByBytes(page: readonly Sized<unknown>[]): string[][] {
  const parts: string[][] = [];
  let room = 0;
  for (const { id, bytes } of page) {
    const part = parts.at(-1);
    if (part === undefined || bytes > room) {
      parts.push([id]);
      room = ANSWER_PART_BYTES - bytes;
    } else {
      part.push(id);
      room -= bytes;
    }
  }
  return parts;
}
