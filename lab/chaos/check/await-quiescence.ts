import { setTimeout as sleep } from 'node:timers/promises';
import { nowMs } from '../../../shared/process/clock.js';
import { judgeHistory } from '../../world/history/judge-history.js';
import type { Signing } from '../journals/entries.js';
import type { System } from '../system/system.js';
import { checkAnswers } from './check-answers.js';
import { checkConnections } from './check-connections.js';
import { checkEvents } from './check-events.js';
import { checkMoney } from './check-money.js';
import { checkRefunds } from './check-refunds.js';
import { checkStops } from './check-stops.js';
import { type Evidence, NO_EVIDENCE, readEvidence } from './evidence.js';

export interface Verdict {
  violations: string[];
  evidence: Evidence;
  /** Milliseconds from recovery until no check failed. */
  quietAfterMs: number;
}

const AFTER_RECOVERY_MS = 120_000;
const AFTER_LAST_AUTHORIZATION_MS = 60_000;
/** A Solana payment cannot move money later than this after its claim. */
const SOLANA_LIFETIME_MS = 180_000;
/** The last thaw ends the last connections that the service had given up. */
const CONNECTIONS_END_WITHIN_MS = 5000;
/** The service checks for late money a minute after the authorization's end; the check takes up to this long. */
const LATE_CHECK_MS = 15_000;
const CHECK_EVERY_MS = 2000;
/** A check of thousands of payments takes seconds, and the service needs the processors for its recovery. */
const PAUSE_PER_CHECK = 2;
/** Milliseconds after which the checks must pass again: a duplicate event would arrive by then. */
const STAYS_MS = 3000;

/**
 * Runs the checks until they pass, for two minutes at most, or a minute after the last payment could still move money.
 */
export async function awaitQuiescence(
  system: System,
  sold: Promise<unknown>,
  listed: ReadonlySet<string>,
): Promise<Verdict> {
  const recoveredAt = nowMs();
  let areBuyersDone = false;
  const finish = (): void => {
    areBuyersDone = true;
  };
  // Buyers may fail before every purchase is done: the run still waits, and reports their failure at the end.
  sold.then(finish, () => undefined);
  const leftOpen = new Set<string>();
  const checkAgain = async (): Promise<Check> => {
    const seen = await check(system, listed);
    if (nowMs() > recoveredAt + CONNECTIONS_END_WITHIN_MS)
      for (const complaint of checkConnections(seen.evidence)) leftOpen.add(complaint);
    return seen;
  };
  for (let tookMs = 0; ; ) {
    await sleep(Math.max(CHECK_EVERY_MS, tookMs * PAUSE_PER_CHECK));
    const startedAt = nowMs();
    const { evidence, passing, lasting } = await checkAgain();
    tookMs = nowMs() - startedAt;
    const isQuiet = areBuyersDone && passing.length === 0;
    if (isQuiet || nowMs() > deadline(recoveredAt, evidence)) {
      const quietAfterMs = nowMs() - recoveredAt;
      const left = unfinishedBuyers(areBuyersDone);
      if (!isQuiet)
        return { violations: [...lasting, ...passing, ...leftOpen, ...left], evidence, quietAfterMs };
      await sleep(STAYS_MS);
      const again = await checkAgain();
      return {
        violations: [...again.lasting, ...again.passing, ...leftOpen],
        evidence: again.evidence,
        quietAfterMs,
      };
    }
  }
}

interface Check {
  evidence: Evidence;
  /** Complaints that may disappear with time; `lasting` complaints cannot. */
  passing: string[];
  lasting: string[];
}

async function check(system: System, listed: ReadonlySet<string>): Promise<Check> {
  try {
    const evidence = await readEvidence(system, listed);
    const passing = [...checkMoney(evidence), ...checkEvents(evidence), ...checkRefunds(evidence)];
    return {
      evidence,
      passing,
      lasting: [
        ...checkAnswers(evidence),
        ...checkStops(evidence),
        ...evidence.histories.flatMap(judgeHistory),
      ],
    };
  } catch (error) {
    // A process that was killed last may still be starting.
    const reason = error instanceof Error ? error.message : String(error);
    return { evidence: NO_EVIDENCE, passing: [`the service cannot be read: ${reason}`], lasting: [] };
  }
}

function unfinishedBuyers(areBuyersDone: boolean): string[] {
  return areBuyersDone ? [] : ['some buyers have not finished'];
}

function deadline(recoveredAt: number, { buyers, liedAbout }: Evidence): number {
  const ends = buyers.map((entry) => (entry.kind === 'signed' ? decidedAt(entry) : 0));
  const lastEnd = ends.reduce((latest, end) => Math.max(latest, end), 0);
  const checkMs = liedAbout.size > 0 ? LATE_CHECK_MS : 0;
  return Math.max(recoveredAt + AFTER_RECOVERY_MS, lastEnd + AFTER_LAST_AUTHORIZATION_MS + checkMs);
}

function decidedAt({ family, validBefore }: Signing): number {
  return validBefore * 1000 + (family === 'svm' ? SOLANA_LIFETIME_MS : 0);
}
