import { closeSync, fdatasyncSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import type { JournalEntry } from './records.js';

/**
 * What the cluster has done, one line per step, on disk before anyone is told. A line that a kill cut off was never
 * told to anyone, and is cut away.
 */
export interface Journal {
  /** Of the starts before. */
  readonly entries: readonly JournalEntry[];
  append(entry: JournalEntry): void;
  close(): void;
}

/** For a cluster that is forgotten with its process. */
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
