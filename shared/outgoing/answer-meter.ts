import { ANSWER_BYTES_PER_FURTHER_PIECE, MAX_ANSWER_PIECES } from '../limits/bounds.js';
import { HeadScan } from './head-scan.js';
import type { BoundCode } from './out-of-bounds.js';

/** Whether so many bytes may come in so many pieces: each costs time whatever its length. */
export function areTooManyPieces(pieces: number, bytes: number): boolean {
  return pieces > MAX_ANSWER_PIECES + bytes / ANSWER_BYTES_PER_FURTHER_PIECE;
}

/** Measures the answers on one connection, one after the other, by the bytes that arrive: chunk sizes and extensions too. */
export class AnswerMeter {
  readonly #maxBodyBytes: number;
  #head = new HeadScan();
  #pieces = 0;
  #bytes = 0;
  #bodyBytes = 0;

  constructor(maxBodyBytes: number) {
    this.#maxBodyBytes = maxBodyBytes;
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
    if (areTooManyPieces(this.#pieces, this.#bytes)) return 'TOO_MANY_PIECES';
    const ofHead = this.#head.read(piece);
    if (typeof ofHead === 'string') return ofHead;
    this.#bodyBytes += piece.length - ofHead;
    return this.#bodyBytes > this.#maxBodyBytes ? 'ANSWER_TOO_LONG' : undefined;
  }

  /** The parser has paused and puts the rest of a piece back, which arrives again. A parser pauses in bodies only. */
  putBack(length: number): void {
    this.#bytes -= length;
    this.#bodyBytes -= length;
  }
}
