import { MAX_IMAGE_BYTES } from '../../shared/limits/bounds.js';
import type { ByteBudget } from '../limits/byte-budget.js';

const FIRST_BYTES = 64 * 1024;

/** There is no memory left for images at the moment: nothing is said about the image. */
export class ImagesBusy extends Error {
  override readonly name = 'ImagesBusy';
}

/**
 * Into one buffer that grows, whose bytes are taken before it does: the pieces that a server sends cost more than they
 * hold. Undefined for what is too long.
 */
export async function readImageBody(
  body: AsyncIterable<Uint8Array>,
  announced: number | undefined,
  budget: ByteBudget,
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
    // What is kept for an hour is no larger than it must be.
    return length === room.bytes.length ? room.bytes : Buffer.from(room.bytes.subarray(0, length));
  } finally {
    room.release();
  }
}

function allocate(budget: ByteBudget, holder: string, size: number): { bytes: Buffer; release(): void } {
  const release = budget.take(holder, size);
  if (release === undefined) throw new ImagesBusy();
  return { bytes: Buffer.allocUnsafeSlow(size), release };
}
