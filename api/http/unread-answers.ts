import type { Response } from 'express';
import { ANSWER_PIECE_BYTES, UNREAD_ANSWERS } from '../../shared/limits/bounds.js';
import { onClose } from './on-close.js';

/**
 * Whole answers in the memory of this process that their clients have not read yet. An account may have so many bytes of
 * them; beyond that, answers that have waited long are cut off, the longest first. No budget: the bytes are known only
 * when an answer is written, and fall as the client reads.
 */
const unread = new Map<string, Map<Response, number>>();

/** For an answer that was just ended. */
export function watchUnread(res: Response, limits = UNREAD_ANSWERS): void {
  if (res.writableLength < ANSWER_PIECE_BYTES) return;
  const { principal, ip = '' } = res.req;
  const owner = principal?.accountId ?? ip;
  const answers = unread.get(owner) ?? new Map<Response, number>();
  unread.set(owner, answers);
  answers.set(res, performance.now());
  onClose(res, () => {
    answers.delete(res);
    if (answers.size === 0) unread.delete(owner);
  });
  cutOff(answers, limits);
}

function cutOff(
  answers: ReadonlyMap<Response, number>,
  { bytes: most, waitedMs }: typeof UNREAD_ANSWERS,
): void {
  let bytes = 0;
  for (const res of answers.keys()) bytes += res.writableLength;
  for (const [res, since] of answers) {
    if (bytes <= most || performance.now() - since < waitedMs) return;
    bytes -= res.writableLength;
    res.destroy();
  }
}
