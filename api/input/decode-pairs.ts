/** Offsets in the decoded bytes: start of the pair, end of its name, end of the pair. */
interface Pair {
  start: number;
  equals: number;
  end: number;
}

const SPACE = 0x20;
const PERCENT = 0x25;
const AMPERSAND = 0x26;
const PLUS = 0x2b;
const EQUALS = 0x3d;

/**
 * Percent-decodes all pairs in one pass. The separators stay in the output, so that no UTF-8 sequence can span two
 * pairs. Of a pair that is too long for any parameter only the first part is decoded.
 */
export function decodePairs(sent: Buffer): { bytes: Buffer; pairs: Pair[] } {
  const bytes = Buffer.allocUnsafe(sent.length + 1);
  const pairs: Pair[] = [];
  let length = 0;
  for (let from = 0; from <= sent.length; ) {
    const found = sent.indexOf(AMPERSAND, from);
    const to = found === -1 ? sent.length : found;
    const start = length;
    let equals = -1;
    const decoded = Math.min(to, from + LONGEST_PAIR_BYTES);
    for (let at = from; at < decoded; at += 1) {
      let byte = sent[at] as number;
      if (IS_PLAIN[byte] === 0) {
        if (byte === PERCENT) {
          // A percent sign without two hexadecimal digits stands for itself, as in browsers.
          const high = at + 2 < sent.length ? (HEX[sent[at + 1] as number] as number) : NO_DIGIT;
          const low = high < 0 ? NO_DIGIT : (HEX[sent[at + 2] as number] as number);
          if (low >= 0) {
            byte = high * 16 + low;
            at += 2;
          }
        } else if (byte === PLUS) {
          byte = SPACE;
        } else if (equals === -1) {
          equals = length;
        }
      }
      bytes[length] = byte;
      length += 1;
    }
    if (decoded < to) length = withoutLastSequence(bytes, length);
    pairs.push({ start, equals: equals === -1 ? length : Math.min(equals, length), end: length });
    bytes[length] = AMPERSAND;
    length += 1;
    from = to + 1;
  }
  return { bytes: bytes.subarray(0, length - 1), pairs };
}

/** The length without the last UTF-8 sequence of one to four bytes, which may be cut. */
function withoutLastSequence(bytes: Buffer, length: number): number {
  let end = length - 1;
  while (end > length - 4 && ((bytes[end] as number) & 0xc0) === 0x80) end -= 1;
  return end;
}

/** The longest value, a URL of 2,048 characters, takes 24 KiB when each is four bytes and each byte is escaped. */
const LONGEST_PAIR_BYTES = 32 * 1024;

/** One entry for each byte: 1 when the byte stands for itself wherever it is. */
const IS_PLAIN = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte === PERCENT || byte === PLUS || byte === EQUALS ? 0 : 1,
);

const NO_DIGIT = -1;

/** Values of the bytes that are hexadecimal digits. */
const HEX = Int8Array.from({ length: 256 }, (_, byte) => {
  const digit = Number.parseInt(String.fromCharCode(byte), 16);
  return Number.isNaN(digit) ? NO_DIGIT : digit;
});
