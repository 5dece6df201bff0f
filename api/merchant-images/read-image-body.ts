import { MAX_IMAGE_BYTES } from '../../shared/limits/bounds.js';
import type { Budget, Release } from '../../shared/limits/budget.js';

const FIRST_BYTES = 64 * 1024;

/** The budget has no bytes left at the moment, which says nothing about the image. */
export class ImagesBusy extends Error {
  override readonly name = 'ImagesBusy';
}

/**
 * Reads the body into one buffer that grows, since the chunks that a server sends cost more memory than they hold. The
 * bytes are taken from the budget before the buffer grows. Undefined when the body is too long.
 */
export async function readImageBody(
  body: AsyncIterable<Uint8Array>,
  announced: number | undefined,
  budget: Pick<Budget, 'take'>,
  holder: string,
): Promise<Buffer | undefined> {
  if (announced !== undefined && announced > MAX_IMAGE_BYTES) return undefined;
  let room = allocate(budget, holder, announced ?? FIRST_BYTES);
  try {
    let length = 0;
    for await (const part of body) {
      if (length + part.length > MAX_IMAGE_BYTES) return undefined;
      if (length + part.length > room.bytes.length) {
        const wanted = Math.max(2 * room.bytes.length, length + part.length);
        const larger = allocate(budget, holder, Math.min(wanted, MAX_IMAGE_BYTES));
        room.bytes.copy(larger.bytes, 0, 0, length);
        room.release();
        room = larger;
      }
      room.bytes.set(part, length);
      length += part.length;
    }
    // The image may be cached for an hour: its buffer is no larger than the image.
    return length === room.bytes.length ? room.bytes : Buffer.from(room.bytes.subarray(0, length));
  } finally {
    room.release();
  }
}

function allocate(
  budget: Pick<Budget, 'take'>,
  holder: string,
  size: number,
): { bytes: Buffer; release: Release } {
  const release = budget.take(size, holder);
  if (release === undefined) throw new ImagesBusy();
  return { bytes: Buffer.allocUnsafeSlow(size), release };
}
