import { setTimeout as sleep } from 'node:timers/promises';
import { nowMs } from '../../shared/clock.js';
import type { Stage } from '../stage/stage.js';
import { type Books, readBooks } from './books.js';
import { checkAnswers } from './check-answers.js';
import { checkEvents } from './check-events.js';
import { checkMoney } from './check-money.js';

export interface Verdict {
  violations: string[];
  books: Books;
  /** From the healing until nothing was left to complain of. */
  peaceAfterMs: number;
}

const AFTER_HEALING_MS = 120_000;
const AFTER_LAST_AUTHORIZATION_MS = 60_000;
/** Late money is looked for a minute after the end; the look takes its time. */
const LATE_LOOK_MS = 15_000;
const LOOK_EVERY_MS = 2000;
/** Once all is well it must stay so: a second event of a type would come by then. */
const STAYS_MS = 3000;

/**
 * Looks until nothing is to be complained of, at the longest for two minutes, or a minute after the last authorization
 * ran out.
 */
export async function awaitPeace(stage: Stage, sold: Promise<unknown>): Promise<Verdict> {
  const healedAt = nowMs();
  let areBuyersGone = false;
  const leave = (): void => {
    areBuyersGone = true;
  };
  // Buyers who ended without having served everybody are still waited for, and told of at the end.
  sold.then(leave, () => undefined);
  for (;;) {
    await sleep(LOOK_EVERY_MS);
    const { books, passing, lasting } = await look(stage);
    const isPeace = areBuyersGone && passing.length === 0;
    if (isPeace || nowMs() > deadline(healedAt, books)) {
      const peaceAfterMs = nowMs() - healedAt;
      if (!isPeace)
        return { violations: [...lasting, ...passing, ...unserved(areBuyersGone)], books, peaceAfterMs };
      await sleep(STAYS_MS);
      const again = await look(stage);
      return { violations: [...again.lasting, ...again.passing], books: again.books, peaceAfterMs };
    }
  }
}

interface Look {
  books: Books;
  /** What time may heal, and what it never will. */
  passing: string[];
  lasting: string[];
}

async function look(stage: Stage): Promise<Look> {
  try {
    const books = await readBooks(stage);
    return { books, passing: [...checkMoney(books), ...checkEvents(books)], lasting: checkAnswers(books) };
  } catch (error) {
    // A process that was killed last is still starting.
    const reason = error instanceof Error ? error.message : String(error);
    return { books: NO_BOOKS, passing: [`the service cannot be asked: ${reason}`], lasting: [] };
  }
}

function unserved(areBuyersGone: boolean): string[] {
  return areBuyersGone ? [] : ['some buyers still wait'];
}

function deadline(healedAt: number, { buyers, liedAbout }: Books): number {
  const ends = buyers.map((entry) => (entry.kind === 'signed' ? entry.validBefore * 1000 : 0));
  const lastEnd = ends.reduce((latest, end) => Math.max(latest, end), 0);
  const lookMs = liedAbout.size > 0 ? LATE_LOOK_MS : 0;
  return Math.max(healedAt + AFTER_HEALING_MS, lastEnd + AFTER_LAST_AUTHORIZATION_MS + lookMs);
}

const NO_BOOKS: Books = {
  sessions: new Map(),
  payments: [],
  undecided: 0,
  buyers: [],
  answers: [],
  ledger: [],
  liedAbout: new Set(),
  received: [],
  endpoints: [],
  faults: [],
};
