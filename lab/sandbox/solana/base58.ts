import { getBase58Decoder, getBase58Encoder } from '@solana/kit';

const decoder = getBase58Decoder();
const encoder = getBase58Encoder();

export function toBase58(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

/** Throws on a character outside of the alphabet. */
export function fromBase58(text: string): Uint8Array {
  return Uint8Array.from(encoder.encode(text));
}
