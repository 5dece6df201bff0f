import { ANSWER_BYTES_PER_FURTHER_PIECE } from '../limits/bounds.js';
import { HeadScan } from './head-scan.js';
import type { BoundCode } from './out-of-bounds.js';

/** How much one answer may have, of the longest that its client reads. */
export interface AnswerBounds {
  bodyBytes: number;
  /** Each costs time, whatever its length. A longer answer may have more. */
  pieces: number;
}

/** Whether so many bytes may not come in so many pieces. */
export function areTooManyPieces(bounds: AnswerBounds, pieces: number, bytes: number): boolean {
  return pieces > bounds.pieces + bytes / ANSWER_BYTES_PER_FURTHER_PIECE;
}

/** Chunked encoding may add this much to a body: more, with small chunks, is out of bounds as pieces. */
const FRAMING_BYTES = 16 * 1024;

/** Measures the answers on one connection, one after the other, by the bytes that arrive: chunk sizes and extensions too. */
export class AnswerMeter {
  readonly #bounds: AnswerBounds;
  #head = new HeadScan();
  #pieces = 0;
  #bytes = 0;
  #bodyBytes = 0;

  constructor(bounds: AnswerBounds) {
    this.#bounds = bounds;
  }

  /** The next request is sent. */
  restart(): void {
    this.#head = new HeadScan();
    this.#pieces = 0;
    this.#bytes = 0;
    this.#bodyBytes = 0;
  }

  /** The bound that the answer exceeds with this piece. */
  add(piece: Buffer): BoundCode | undefined {
    this.#pieces += 1;
    this.#bytes += piece.length;
    if (areTooManyPieces(this.#bounds, this.#pieces, this.#bytes)) return 'TOO_MANY_PIECES';
    const ofHead = this.#head.read(piece);
    if (typeof ofHead === 'string') return ofHead;
    this.#bodyBytes += piece.length - ofHead;
    return this.#bodyBytes > this.#bounds.bodyBytes + FRAMING_BYTES ? 'ANSWER_TOO_LONG' : undefined;
  }

  /** The parser has paused and puts the rest of a piece back, which arrives again. A parser pauses in bodies only. */
  putBack(length: number): void {
    this.#bytes -= length;
    this.#bodyBytes -= length;
  }
}
