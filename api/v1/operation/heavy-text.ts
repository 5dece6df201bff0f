import { ANSWER_PIECE_BYTES, HEAVY_ANSWERS } from '../../../shared/domain/weight.js';
import type { HeavyAnswer, HeavyAnswers } from '../../heavy-answers.js';

/** Reads a part, and gives its text in pieces, the same number of them each time. */
export type ReadPart = () => Promise<Iterable<string>>;

/**
 * The text of an answer that is too heavy to be whole in memory: part by part, each read in a place of its own. Whoever
 * takes it slowly keeps a part, and its place, for a moment only: the part is read again when the rest is wanted.
 */
export async function* heavyText(
  heavyAnswers: HeavyAnswers,
  accountId: string,
  parts: Iterable<ReadPart>,
  keptMs = HEAVY_ANSWERS.placeKeptMs,
): AsyncGenerator<string> {
  const answer = heavyAnswers.begin(accountId);
  try {
    for (const read of parts) yield* textOfPart(answer, read, keptMs);
  } finally {
    answer.end();
  }
}

async function* textOfPart(answer: HeavyAnswer, read: ReadPart, keptMs: number): AsyncGenerator<string> {
  let given = 0;
  for (let isOver = false; !isOver; ) {
    const place = await answer.takePlace();
    let timer: NodeJS.Timeout | undefined;
    try {
      let left: Iterator<string> | undefined = skip(await read(), given);
      timer = setTimeout(() => {
        left = undefined;
        place.leave();
      }, keptMs);
      while (left !== undefined && !isOver) {
        const { text, count, isLast } = take(left);
        given += count;
        isOver = isLast;
        yield text;
      }
    } finally {
      clearTimeout(timer);
      place.leave();
    }
  }
}

function skip(pieces: Iterable<string>, count: number): Iterator<string> {
  const iterator = pieces[Symbol.iterator]();
  for (let skipped = 0; skipped < count; skipped += 1) iterator.next();
  return iterator;
}

/** Small ones together. */
function take(pieces: Iterator<string>): { text: string; count: number; isLast: boolean } {
  let text = '';
  let count = 0;
  while (text.length < ANSWER_PIECE_BYTES) {
    const { value, done } = pieces.next();
    if (done) return { text, count, isLast: true };
    text += value;
    count += 1;
  }
  return { text, count, isLast: false };
}
