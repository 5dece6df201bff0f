import { setTimeout as sleep } from 'node:timers/promises';
import { nowMs } from '../../../shared/process/clock.js';
import type { Signing } from '../actors/entries.js';
import type { Stage } from '../stage/stage.js';
import { type Books, readBooks } from './books.js';
import { checkAnswers } from './check-answers.js';
import { checkConnections } from './check-connections.js';
import { checkEvents } from './check-events.js';
import { checkMoney } from './check-money.js';
import { checkRefunds } from './check-refunds.js';
import { checkStops } from './check-stops.js';

export interface Verdict {
  violations: string[];
  books: Books;
  /** From the healing until nothing was left to complain of. */
  peaceAfterMs: number;
}

const AFTER_HEALING_MS = 120_000;
const AFTER_LAST_AUTHORIZATION_MS = 60_000;
/** A payment on Solana can surely move no more this long after it was claimed. */
const SOLANA_LIFETIME_MS = 180_000;
/** The last thaw delivers what ends the last connections that were given up. */
const CONNECTIONS_END_WITHIN_MS = 5000;
/** Late money is looked for a minute after the end; the look takes its time. */
const LATE_LOOK_MS = 15_000;
const LOOK_EVERY_MS = 2000;
/** Once all is well it must stay so: a second event of a type would come by then. */
const STAYS_MS = 3000;

/**
 * Looks until nothing is to be complained of, at the longest for two minutes, or a minute after the last payment could
 * still move.
 */
export async function awaitPeace(stage: Stage, sold: Promise<unknown>): Promise<Verdict> {
  const healedAt = nowMs();
  let areBuyersGone = false;
  const leave = (): void => {
    areBuyersGone = true;
  };
  // Buyers who ended without having served everybody are still waited for, and told of at the end.
  sold.then(leave, () => undefined);
  const leftOpen = new Set<string>();
  const lookAgain = async (): Promise<Look> => {
    const seen = await look(stage);
    if (nowMs() > healedAt + CONNECTIONS_END_WITHIN_MS)
      for (const complaint of checkConnections(seen.books)) leftOpen.add(complaint);
    return seen;
  };
  for (;;) {
    await sleep(LOOK_EVERY_MS);
    const { books, passing, lasting } = await lookAgain();
    const isPeace = areBuyersGone && passing.length === 0;
    if (isPeace || nowMs() > deadline(healedAt, books)) {
      const peaceAfterMs = nowMs() - healedAt;
      const left = unserved(areBuyersGone);
      if (!isPeace)
        return { violations: [...lasting, ...passing, ...leftOpen, ...left], books, peaceAfterMs };
      await sleep(STAYS_MS);
      const again = await lookAgain();
      return {
        violations: [...again.lasting, ...again.passing, ...leftOpen],
        books: again.books,
        peaceAfterMs,
      };
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
    const passing = [...checkMoney(books), ...checkEvents(books), ...checkRefunds(books)];
    return { books, passing, lasting: [...checkAnswers(books), ...checkStops(books)] };
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
  const ends = buyers.map((entry) => (entry.kind === 'signed' ? decidedAt(entry) : 0));
  const lastEnd = ends.reduce((latest, end) => Math.max(latest, end), 0);
  const lookMs = liedAbout.size > 0 ? LATE_LOOK_MS : 0;
  return Math.max(healedAt + AFTER_HEALING_MS, lastEnd + AFTER_LAST_AUTHORIZATION_MS + lookMs);
}

function decidedAt({ family, validBefore }: Signing): number {
  return validBefore * 1000 + (family === 'svm' ? SOLANA_LIFETIME_MS : 0);
}

const NO_BOOKS: Books = {
  sessions: new Map(),
  refunds: new Map(),
  payments: [],
  undecided: 0,
  buyers: [],
  answers: [],
  ledger: [],
  liedAbout: new Set(),
  received: [],
  endpoints: [],
  faults: [],
  calls: [],
  idleInTransaction: [],
};
