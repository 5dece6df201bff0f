/** `GET / HTTP/1.1`, with its two line ends. */
const SHORTEST_REQUEST_BYTES = 18;
/** A longer piece is not searched for the end of a head. */
const SEARCHED_BYTES = 16 * 1024;
/** The ends of a head, the usual one first. */
const BLANK_LINES = [Buffer.from('\n\r\n'), Buffer.from('\n\n')];

/**
 * The length of a piece of `bytes` in which at most `room` heads of requests end. `room - 1` of the shortest requests fit
 * into its first part, and the next blank line, at which the piece ends, may end one more head.
 */
export function pieceLength(bytes: Buffer, room: number): number {
  const least = Math.max(1, room - 1) * SHORTEST_REQUEST_BYTES;
  if (bytes.length <= least || room <= 1) return Math.min(bytes.length, least);
  let piece = bytes.length <= least + SEARCHED_BYTES ? bytes : bytes.subarray(0, least + SEARCHED_BYTES);
  for (const blank of BLANK_LINES) {
    const at = piece.indexOf(blank, least - blank.length + 1);
    if (at !== -1) piece = piece.subarray(0, at + blank.length);
  }
  return piece.length;
}
