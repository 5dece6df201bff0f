import { readFileSync } from 'node:fs';

/**
 * Each service process loads this module first: its clock is shifted by an environment variable, and by the content of a
 * file, which a run changes to set the clock.
 */
const offsetMs = Number(process.env.CHAOS_CLOCK_OFFSET_MS ?? 0);
const file = process.env.CHAOS_CLOCK_FILE;
const READ_EVERY_MS = 100;
let steppedMs = 0;

if (offsetMs !== 0 || file !== undefined) {
  const RealDate = Date;
  const now = () => RealDate.now() + offsetMs + steppedMs;
  globalThis.Date = class ShiftedDate extends RealDate {
    constructor(...parts) {
      if (parts.length === 0) super(now());
      else super(...parts);
    }

    static now() {
      return now();
    }
  };
}

function read() {
  try {
    steppedMs = Number(readFileSync(file, 'utf8')) || 0;
  } catch {
    steppedMs = 0;
  }
}

if (file !== undefined) {
  read();
  setInterval(read, READ_EVERY_MS).unref();
}
