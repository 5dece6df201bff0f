import { MAX_BODY_DEPTH, MAX_BODY_VALUES } from '../../shared/limits/bounds.js';

/**
 * The number and depth of values, counted before parsing: time and memory of parsing grow with the number of
 * values.
 */
export interface Weight {
  values: number;
  depth: number;
}

export function isTooHeavy({ values, depth }: Weight): boolean {
  return values > MAX_BODY_VALUES || depth > MAX_BODY_DEPTH;
}

const TAB_TO_SPACE = 0x20;
const QUOTE = 0x22;
const PERCENT = 0x25;
const AMPERSAND = 0x26;
const COMMA = 0x2c;
const FIVE = 0x35;
const EQUALS = 0x3d;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * Counts every value, also one with a repeated key. The count is exact for valid JSON below the limits; it stops at
 * the limits.
 */
export function weighJson(bytes: Buffer): Weight {
  // Each comma adds one value to a container that has one.
  let values = 1;
  let depth = 0;
  let deepest = 0;
  let isOpened = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] as number;
    if (byte <= TAB_TO_SPACE) continue;
    if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      depth -= 1;
      isOpened = false;
      continue;
    }
    if (isOpened || byte === COMMA) {
      values += 1;
      isOpened = false;
    }
    if (byte === QUOTE) {
      at = endOfString(bytes, at);
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      depth += 1;
      if (depth > deepest) deepest = depth;
      isOpened = true;
    }
    if (values > MAX_BODY_VALUES || deepest > MAX_BODY_DEPTH) break;
  }
  return { values, depth: deepest };
}

/** Strings this short are scanned byte by byte, which is faster than `indexOf`. */
const SHORT = 32;

/** The end of the string that begins at `start`, or the length of the text when it is not closed. */
function endOfString(bytes: Buffer, start: number): number {
  const soon = Math.min(start + SHORT, bytes.length);
  let at = start + 1;
  while (at < soon && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  if (at < soon) return at;
  // No escape sequence spans this position.
  const rest = at;
  for (at = bytes.indexOf(QUOTE, rest); at !== -1; at = bytes.indexOf(QUOTE, at + 1)) {
    if (backslashesBefore(bytes, at, rest) % 2 === 0) return at;
  }
  return bytes.length;
}

function backslashesBefore(bytes: Buffer, end: number, start: number): number {
  let at = end;
  while (at > start && bytes[at - 1] === BACKSLASH) at -= 1;
  return end - at;
}

/** Counts every pair, also an empty one. Depth is the number of brackets in a name, escaped or not. */
export function weighForm(bytes: Buffer): Weight {
  let values = 1;
  let depth = 1;
  let deepest = 1;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] as number;
    if (byte === AMPERSAND) {
      values += 1;
      depth = 1;
    } else if (byte === EQUALS) {
      // The next turn of the loop is at the ampersand.
      at = endOfValue(bytes, at + 1) - 1;
    } else if (byte === OPEN_BRACKET || (byte === PERCENT && isEscapedBracket(bytes, at))) {
      depth += 1;
      if (depth > deepest) deepest = depth;
    }
    if (values > MAX_BODY_VALUES || deepest > MAX_BODY_DEPTH) break;
  }
  return { values, depth: deepest };
}

/** The next ampersand, or the length of the form. */
function endOfValue(bytes: Buffer, start: number): number {
  const soon = Math.min(start + SHORT, bytes.length);
  let at = start;
  while (at < soon && bytes[at] !== AMPERSAND) at += 1;
  if (at < soon) return at;
  const end = bytes.indexOf(AMPERSAND, at);
  return end === -1 ? bytes.length : end;
}

/** `%5B` or `%5b`. */
function isEscapedBracket(bytes: Buffer, at: number): boolean {
  return bytes[at + 1] === FIVE && ((bytes[at + 2] ?? 0) | 0x20) === 0x62;
}
