import { randomFillSync } from 'node:crypto';
import { confirmedNowMs, onClockReset } from '../process/clock.js';

/**
 * Identifiers sort by creation: prefix + 8 characters of milliseconds + 3 of a counter + 17 random ones
 * (101 bits), all in base 62 whose digits are in ASCII order, so `COLLATE "C"` sorts them by time.
 * Within a process they strictly increase, also when the system clock steps back, from the first reading of Postgres' clock on:
 * ids of requests before it may be of a wrong time. The creation time of an object is its id's time: there is no second copy of
 * it to disagree with.
 */
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const TIME_LENGTH = 8;
const COUNTER_LENGTH = 3;
const RANDOM_LENGTH = 17;
const COUNTER_LIMIT = 62 ** COUNTER_LENGTH;
const LATEST_MS = 62 ** TIME_LENGTH - 1;

export type IdPrefix =
  | 'acct_'
  | 'cs_live_'
  | 'cs_test_'
  | 'evt_'
  | 'key_'
  | 'li_'
  | 'pay_'
  | 're_'
  | 'req_'
  | 'wd_'
  | 'we_';

let lastMs = 0;
let counter = 0;
onClockReset(() => {
  lastMs = 0;
});

export function newId(prefix: IdPrefix): string {
  // A jump that is taken back would stay in every id until that time has come.
  const ms = confirmedNowMs();
  if (ms > lastMs) {
    lastMs = ms;
    counter = 0;
  } else if (++counter === COUNTER_LIMIT) {
    lastMs += 1;
    counter = 0;
  }
  return prefix + timeText(lastMs) + toBase62(counter, COUNTER_LENGTH) + randomText(RANDOM_LENGTH);
}

/** An id without its random digits, which the statement adds that writes many rows. */
export function newIdStart(prefix: IdPrefix): string {
  return newId(prefix).slice(0, -RANDOM_LENGTH);
}

let lastTime = { ms: 0, text: '0'.repeat(TIME_LENGTH) };

/** The text is cached: many ids are created within one millisecond. */
function timeText(ms: number): string {
  if (lastTime.ms !== ms) lastTime = { ms, text: toBase62(ms, TIME_LENGTH) };
  return lastTime.text;
}

export function sessionPrefix(livemode: boolean): 'cs_live_' | 'cs_test_' {
  return livemode ? 'cs_live_' : 'cs_test_';
}

/** A payable is a session or a refund. */
export function isRefundId(payableId: string): boolean {
  return payableId.startsWith('re_');
}

/** The lowest id that an object created at this time or later can have. */
export function lowestIdAt(prefix: IdPrefix, ms: number): string {
  return prefix + toBase62(Math.min(Math.max(Math.floor(ms), 0), LATEST_MS), TIME_LENGTH);
}

export function createdAt(id: string): Date {
  const start = id.lastIndexOf('_') + 1;
  let ms = 0;
  for (const digit of id.slice(start, start + TIME_LENGTH)) ms = ms * 62 + DIGITS.indexOf(digit);
  return new Date(ms);
}

/** An SQL expression for the creation time of an id, in milliseconds. */
export function createdMsSql(id: string, prefix: IdPrefix): string {
  const start = prefix.length + 1;
  const digits = Array.from({ length: TIME_LENGTH }, (_, index) => {
    const digit = `substr(${id}, ${start + index}, 1)`;
    return `(strpos('${DIGITS}', ${digit}) - 1) * ${62 ** (TIME_LENGTH - 1 - index)}::bigint`;
  });
  return `(${digits.join(' + ')})`;
}

/** Longer than any id. A longer text names nothing, and is cut to this length before it is looked up or compared. */
const MAX_SOUGHT_LENGTH = 101;

export function soughtId(value: string): string {
  return value.slice(0, MAX_SOUGHT_LENGTH);
}

/** A string of another shape cannot be an id, so a look-up needs no statement. */
export function isIdShaped(value: string): boolean {
  return /^[A-Za-z0-9_]{1,100}$/.test(value);
}

/** Uniform base-62 text from the system's random source: about 5.95 bits a character. */
export function randomText(length: number): string {
  let text = '';
  while (text.length < length) {
    if (poolOffset === poolEnd) refillPool();
    const end = Math.min(poolOffset + length - text.length, poolEnd);
    text += pool.toString('latin1', poolOffset, end);
    poolOffset = end;
  }
  return text;
}

/** Random digits for the next ids. */
const pool = Buffer.alloc(8192);
let poolOffset = 0;
let poolEnd = 0;

function refillPool(): void {
  randomFillSync(pool);
  poolOffset = 0;
  poolEnd = 0;
  // 248 is the largest multiple of 62 in a byte: values above it would make some digits more likely.
  for (const byte of pool) if (byte < 248) pool[poolEnd++] = DIGITS.charCodeAt(byte % 62);
}

function toBase62(value: number, length: number): string {
  let text = '';
  for (let i = 0; i < length; i++) {
    text = DIGITS[value % 62] + text;
    value = Math.floor(value / 62);
  }
  return text;
}
