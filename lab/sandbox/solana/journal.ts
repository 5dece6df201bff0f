import { closeSync, fdatasyncSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import type { JournalEntry } from './records.js';

/**
 * The cluster's changes, one JSON line each, on disk before a caller sees them. A line that a crash truncated was never
 * visible to a caller, and is cut off.
 */
export interface Journal {
  /** The entries of earlier starts. */
  readonly entries: readonly JournalEntry[];
  append(entry: JournalEntry): void;
  close(): void;
}

/** The journal of a cluster that lives in memory. */
export const NO_JOURNAL: Journal = { entries: [], append() {}, close() {} };

export function openJournal(file: string): Journal {
  const descriptor = openSync(file, 'a+', 0o600);
  const text = readFileSync(file, 'utf8');
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  if (whole.length < text.length) ftruncateSync(descriptor, Buffer.byteLength(whole));
  const lines = whole.split('\n').filter((line) => line !== '');
  return {
    entries: lines.map((line) => JSON.parse(line)),
    append(entry) {
      writeSync(descriptor, `${JSON.stringify(entry)}\n`);
      fdatasyncSync(descriptor);
    },
    close: () => closeSync(descriptor),
  };
}
