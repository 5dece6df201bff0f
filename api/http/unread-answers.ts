import type { Response } from 'express';
import { UNREAD_ANSWERS } from '../../shared/limits/bounds.js';
import { onClose } from './on-close.js';

/** Whole answers in the memory of this process, in the order in which they were ended. */
interface Answers {
  of: Map<Response, { since: number; bytes: number }>;
  /** The bytes at the last count: an upper bound, since the client reads meanwhile. */
  bytes: number;
  countedAt: number;
}

/**
 * Bounds the bytes of answers that clients have not read: of one owner, which is an account or an address, and of all. Beyond
 * a bound the answers that have waited longest are cut off. A `Budget` does not fit: the bytes are known only when an answer is
 * written, and fall as the client reads.
 */
const unread = new Map<string, Answers>();
const all: Answers = { of: new Map(), bytes: 0, countedAt: 0 };

/** Counts an answer that was just ended. */
export function watchUnread(res: Response, limits = UNREAD_ANSWERS): void {
  const bytes = res.writableLength;
  if (bytes < limits.countedFrom) return;
  const { principal, ip = '' } = res.req;
  const owner = principal?.accountId ?? ip;
  const owned = unread.get(owner) ?? { of: new Map(), bytes: 0, countedAt: 0 };
  unread.set(owner, owned);
  add(owned, res, bytes);
  add(all, res, bytes);
  onClose(res, () => {
    remove(owned, res);
    remove(all, res);
    if (owned.of.size === 0) unread.delete(owner);
  });
  if (owned.bytes > limits.bytes) cutOff(owned, limits.bytes, limits.waitedMs);
  if (all.bytes > limits.total) cutOff(all, limits.total, limits.waitedMs);
}

function add(answers: Answers, res: Response, bytes: number): void {
  answers.of.set(res, { since: performance.now(), bytes });
  answers.bytes += bytes;
}

function remove(answers: Answers, res: Response): void {
  answers.bytes -= answers.of.get(res)?.bytes ?? 0;
  answers.of.delete(res);
}

/** Answers are counted this often in `waitedMs`: counting thousands of them for each new one would block the event loop. */
const COUNTS_WHILE_ONE_WAITS = 10;

function cutOff(answers: Answers, most: number, waitedMs: number): void {
  const now = performance.now();
  if (now - answers.countedAt < waitedMs / COUNTS_WHILE_ONE_WAITS) return;
  answers.countedAt = now;
  answers.bytes = 0;
  for (const [res, answer] of answers.of) {
    answer.bytes = res.writableLength;
    answers.bytes += answer.bytes;
  }
  for (const [res, { since }] of answers.of) {
    if (answers.bytes <= most || now - since < waitedMs) return;
    remove(answers, res);
    res.destroy();
  }
}
