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
 * pairs.
 */
export function decodePairs(sent: Uint8Array): { bytes: Buffer; pairs: Pair[] } {
  const bytes = Buffer.allocUnsafe(sent.length);
  const pairs: Pair[] = [];
  let length = 0;
  let start = 0;
  let equals = -1;
  const endPair = (): void => {
    pairs.push({ start, equals: equals === -1 ? length : equals, end: length });
    start = length + 1;
    equals = -1;
  };
  for (let at = 0; at < sent.length; at += 1) {
    let byte = sent[at] as number;
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
    } else if (byte === AMPERSAND) {
      endPair();
    } else if (byte === EQUALS && equals === -1) {
      equals = length;
    }
    bytes[length] = byte;
    length += 1;
  }
  endPair();
  return { bytes: bytes.subarray(0, length), pairs };
}

const NO_DIGIT = -1;

/** Values of the bytes that are hexadecimal digits. */
const HEX = Int8Array.from({ length: 256 }, (_, byte) => {
  const digit = Number.parseInt(String.fromCharCode(byte), 16);
  return Number.isNaN(digit) ? NO_DIGIT : digit;
});
