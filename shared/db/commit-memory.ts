import { now, nowMs } from '../process/clock.js';

/**
 * Postgres' write position, when this process last read it. A Postgres that is behind that position, or on an earlier
 * timeline, has lost commits: a standby was promoted without them, or an older copy was restored. A later timeline at or
 * beyond the position may have lost the commits after the last reading.
 */
export interface Position {
  /** The cluster's system identifier; null when Postgres does not tell it. Positions of two clusters cannot be compared. */
  server: string | null;
  /** Every promotion of a standby begins a new timeline. */
  timeline: number;
  /** The end of the log on Postgres' disk, in bytes. A crash of the same server loses nothing before it. */
  flushed: number;
  /** The timeline began at this place of the log, or earlier: nothing of another timeline after it was kept. */
  beganBy: number;
}

export const LOSS_KINDS = ['lost_commits', 'failed_over'] as const;
type LossKind = (typeof LOSS_KINDS)[number];

/** Commits between the two times may be lost. */
export interface Loss {
  kind: LossKind;
  /** Undefined: nothing is known of the time before. */
  from: Date | undefined;
  to: Date;
  known: Position | undefined;
  found: Position;
}

export interface CommitMemory {
  /** The position known when Postgres is asked. The answer is compared with it, since answers may overtake each other. */
  ask(): Asked;
  /** Undefined: Postgres does not tell its position, or takes no writes. */
  answer(asked: Asked, found: Position | undefined): void;
  /** Another process has read this position. The next answer is compared with it, since this one may be newer than ours. */
  recall(position: Position, readAt: Date): void;
  /** The database's own row names an earlier timeline. */
  suspect(found: Position): void;
  /** The furthest position, and when it was read. */
  latest(): { position: Position; at: Date } | undefined;
  /** The number of losses that this process has seen, certain ones and possible ones. */
  losses(): number;
  /** Whether a committed write of the last minutes may be missing. */
  mayHaveLost(): boolean;
  /** Why; undefined while nothing is doubted. */
  doubted(): LossKind | undefined;
  /** Doubts for `ms`, since another process has seen a loss. */
  doubt(ms: number): void;
}

export interface Asked {
  known: Position | undefined;
  at: Date;
}

interface Past {
  known: Position | undefined;
  samples: readonly Sample[];
}

interface Sample {
  flushed: number;
  at: Date;
}

/** When it is full, every second sample is forgotten: the oldest ones are the furthest apart. */
const MAX_SAMPLES = 1000;

/**
 * A forgotten payment may come again for as long as its authorization lasts, and for the time that its buyer waits for an
 * answer: twice the longest time for which a payment stays undecided.
 */
export const DOUBT_MS = 30 * 60_000;

export function openCommitMemory(onLoss: (loss: Loss) => void): CommitMemory {
  let known: Position | undefined;
  let samples: Sample[] = [];
  let doubtsUntil = Number.NEGATIVE_INFINITY;
  let losses = 0;
  /** The position from before a failover that may have lost commits. */
  let unsettled: Past | undefined;
  let worst: LossKind = 'failed_over';

  function doubt(ms: number): void {
    doubtsUntil = Math.max(doubtsUntil, performance.now() + ms);
  }

  const isDoubtful = (): boolean => performance.now() < doubtsUntil;

  function note(position: Position, at: Date): void {
    known = position;
    const last = samples.at(-1);
    if (last?.flushed === position.flushed) last.at = at;
    else samples.push({ flushed: position.flushed, at });
    if (samples.length > MAX_SAMPLES) samples = samples.filter((_, index) => index % 2 === 1);
  }

  function lose(kind: LossKind, found: Position, at: Date, before: Past): void {
    // The newest position that Postgres surely still has. On another cluster positions mean something else.
    const isComparable = before.known === undefined || before.known.server === found.server;
    const limit = keptUntil(before.known, found);
    const kept = isComparable ? before.samples.findLast(({ flushed }) => flushed <= limit) : undefined;
    const loss: Loss = { kind, from: kept?.at, to: now(), known: before.known, found };
    unsettled = kind === 'failed_over' ? before : undefined;
    samples = [];
    note(found, at);
    losses += 1;
    if (kind === 'lost_commits' || !isDoubtful()) worst = kind;
    doubt(DOUBT_MS + (loss.from === undefined ? 0 : Math.max(0, nowMs() - loss.from.getTime())));
    onLoss(loss);
  }

  /** Where the new timeline began is known some time after the failover. */
  function settle(found: Position, at: Date): boolean {
    if (unsettled?.known === undefined || compare(unsettled.known, found) !== 'lost_commits') return false;
    lose('lost_commits', found, at, unsettled);
    return true;
  }

  return {
    ask: () => ({ known, at: now() }),
    answer(asked, found) {
      if (found === undefined) return;
      const kind = asked.known && compare(asked.known, found);
      // An earlier answer has reported this loss.
      const isReported = kind !== undefined && known !== undefined && compare(known, found) === undefined;
      if (kind !== undefined && !isReported) lose(kind, found, asked.at, { known, samples });
      else if (settle(found, asked.at)) return;
      // Otherwise this was asked before `known` was read, and a later answer judges.
      else if (known === undefined || compare(known, found) === undefined) note(found, asked.at);
    },
    recall(position, readAt) {
      if (known !== undefined && compare(position, known) === undefined) return;
      samples = [];
      note(position, readAt);
    },
    suspect(found) {
      lose('failed_over', found, now(), { known: undefined, samples: [] });
    },
    latest: () => known && { position: known, at: samples.at(-1)?.at ?? now() },
    losses: () => losses,
    mayHaveLost: isDoubtful,
    doubted: () => (isDoubtful() ? worst : undefined),
    doubt,
  };
}

/** Undefined: Postgres has everything that it had. */
export function compare(before: Position, found: Position): LossKind | undefined {
  if (before.server !== found.server && before.server !== null && found.server !== null) return 'failed_over';
  if (found.timeline < before.timeline || before.flushed > keptUntil(before, found)) return 'lost_commits';
  return found.timeline > before.timeline ? 'failed_over' : undefined;
}

/** The last position of the earlier server's log that the later server has too. */
function keptUntil(before: Position | undefined, found: Position): number {
  return before === undefined || before.timeline === found.timeline ? found.flushed : found.beganBy;
}
