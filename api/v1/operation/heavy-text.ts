import { ANSWER_PIECE_BYTES, HEAVY_ANSWERS } from '../../../shared/limits/bounds.js';
import type { HeavyAnswer, HeavyAnswers } from '../../limits/heavy-answers.js';
import { takeLongTurn } from '../../limits/long-turns.js';

/** Reads a part, and gives its text in pieces, the same number of them each time. */
export type ReadPart = () => Promise<Iterable<string>>;

type PlaceTimes = Pick<typeof HEAVY_ANSWERS, 'placeIdleMs' | 'placeKeptMs'>;

/**
 * The text of an answer that is too heavy to be whole in memory: part by part, each read in a place of its own. Whoever
 * takes it slowly keeps a part, and its place, for a moment only: the part is read again when the rest is wanted.
 */
export async function* heavyText(
  heavyAnswers: HeavyAnswers,
  accountId: string,
  parts: Iterable<ReadPart>,
  times: PlaceTimes = HEAVY_ANSWERS,
): AsyncGenerator<string> {
  const answer = heavyAnswers.begin(accountId);
  try {
    for (const read of parts) yield* textOfPart(answer, read, times);
  } finally {
    answer.end();
  }
}

async function* textOfPart(
  answer: HeavyAnswer,
  read: ReadPart,
  { placeIdleMs, placeKeptMs }: PlaceTimes,
): AsyncGenerator<string> {
  let given = 0;
  for (let isOver = false; !isOver; ) {
    const place = await answer.takePlace();
    let timer: NodeJS.Timeout | undefined;
    try {
      const part = await read();
      // What came last was parsed in this turn.
      await takeLongTurn();
      let left: Iterator<string> | undefined = skip(part, given);
      const until = performance.now() + placeKeptMs;
      timer = setTimeout(() => {
        left = undefined;
        place.leave();
      }, placeIdleMs);
      do {
        timer.refresh();
        const { text, count, isLast } = take(left);
        given += count;
        isOver = isLast;
        yield text;
      } while (left !== undefined && !isOver && performance.now() < until);
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
