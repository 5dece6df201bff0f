import { ANSWER_PIECE_BYTES, HEAVY_ANSWERS } from '../../../shared/limits/bounds.js';
import type { HeavyAnswer, HeavyAnswers } from '../../limits/heavy-answers.js';
import { takeLongTurn } from '../../limits/long-turns.js';

/** Reads a part and returns its text in pieces, the same pieces each time. */
export type ReadPart = () => Promise<Iterable<string>>;

type SlotTimes = Pick<typeof HEAVY_ANSWERS, 'slotIdleMs' | 'slotKeptMs'>;

/**
 * The text of an answer that is too heavy to be whole in memory, part by part. Each part is read in a slot. A slow client
 * keeps a part and its slot for a moment only: the part is read again when the client takes the rest.
 */
export async function* heavyText(
  heavyAnswers: HeavyAnswers,
  accountId: string,
  parts: Iterable<ReadPart>,
  times: SlotTimes = HEAVY_ANSWERS,
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
  { slotIdleMs, slotKeptMs }: SlotTimes,
): AsyncGenerator<string> {
  let given = 0;
  for (let isOver = false; !isOver; ) {
    const release = await answer.takeSlot();
    let timer: NodeJS.Timeout | undefined;
    try {
      const part = await read();
      // The answer of Postgres was parsed in this turn.
      await takeLongTurn();
      let left: Iterator<string> | undefined = skip(part, given);
      const until = performance.now() + slotKeptMs;
      timer = setTimeout(() => {
        left = undefined;
        release();
      }, slotIdleMs);
      do {
        timer.refresh();
        const { text, count, isLast } = take(left);
        given += count;
        isOver = isLast;
        yield text;
      } while (left !== undefined && !isOver && performance.now() < until);
    } finally {
      clearTimeout(timer);
      release();
    }
  }
}

function skip(pieces: Iterable<string>, count: number): Iterator<string> {
  const iterator = pieces[Symbol.iterator]();
  for (let skipped = 0; skipped < count; skipped += 1) iterator.next();
  return iterator;
}

/** Small pieces are joined. */
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
