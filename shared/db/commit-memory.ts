import { now, nowMs } from '../process/clock.js';

/**
 * Protects payments against a Postgres that has lost commits: a standby was promoted without the last ones, or an older
 * copy was restored. A payment in a lost commit would be accepted, and paid, a second time.
 *
 * Each process remembers the furthest position in Postgres' write-ahead log that it has read, and compares every later
 * reading with it:
 * - A reading behind that position, or on an earlier timeline, proves that commits are lost (`lost_commits`).
 * - A reading on a later timeline, at or beyond the position, shows a failover. Commits between the last reading and the
 *   failover may be lost (`failed_over`).
 * After either, `mayHaveLost` is true for a while, and the process does not trust that a missing payment was never made.
 */

/** A position in Postgres' write-ahead log. */
export interface Position {
  /** The cluster's system identifier; null when Postgres does not tell it. Positions of two clusters cannot be compared. */
  server: string | null;
  /** Each promotion of a standby begins a new timeline, with a higher number. */
  timeline: number;
  /** The end of the log on Postgres' disk, in bytes. A server that crashes and restarts has everything before it. */
  flushed: number;
  /**
   * The timeline began at this position or before it. The server has the log of the earlier timeline up to the timeline's
   * beginning, and nothing of it after that.
   */
  beganBy: number;
}

export const LOSS_KINDS = ['lost_commits', 'failed_over'] as const;
type LossKind = (typeof LOSS_KINDS)[number];

/** A loss of commits, certain or possible: those between `from` and `to`. */
export interface Loss {
  kind: LossKind;
  /** When the newest position that Postgres still has was read; undefined when it has none of the known positions. */
  from: Date | undefined;
  /** When the loss was found. */
  to: Date;
  /** The position before the loss; undefined when another process has read it. */
  known: Position | undefined;
  found: Position;
}

export interface CommitMemory {
  /**
   * Call it before Postgres is asked, and pass the result to `answer`. Answers may overtake each other, so an answer is
   * compared with the position that was known when its question was sent.
   */
  ask(): Question;
  /** `found` is undefined when Postgres does not tell its position, or is in recovery; nothing is compared then. */
  answer(asked: Question, found: Position | undefined): void;
  /**
   * Takes over a position that another process has read, if it is further than the known one. The next answer of Postgres
   * is compared with it.
   */
  recall(position: Position, readAt: Date): void;
  /** Reports a failover, because the database's own row names an earlier timeline than `found`. */
  suspect(found: Position): void;
  /** The furthest position, and when it was read; undefined before the first reading. */
  latest(): { position: Position; at: Date } | undefined;
  /** How many losses this process has seen, certain ones and possible ones. */
  losses(): number;
  /** Whether a write that was committed in the last minutes may be missing. */
  mayHaveLost(): boolean;
  /** The kind of loss while `mayHaveLost`; undefined otherwise. */
  doubted(): LossKind | undefined;
  /** Makes `mayHaveLost` true for `ms`, because another process has seen a loss. */
  doubt(ms: number): void;
}

/** The state of the memory when a question was sent to Postgres. */
interface Question {
  known: Position | undefined;
  at: Date;
}

/** The state of the memory before a loss. */
interface Past {
  known: Position | undefined;
  samples: readonly Sample[];
}

/** A reading of Postgres' position: the samples tell since when commits may be lost. */
interface Sample {
  flushed: number;
  at: Date;
}

/** Beyond this number every second sample is dropped, so that old samples are further apart than new ones. */
const MAX_SAMPLES = 1000;

/**
 * How long a loss is doubted. The buyer of a payment that Postgres has lost may send it again while its authorization is
 * valid and while the buyer waits for an answer. The value is twice the longest time for which a payment stays undecided.
 */
export const DOUBT_MS = 30 * 60_000;

export function openCommitMemory(onLoss: (loss: Loss) => void): CommitMemory {
  let known: Position | undefined;
  let samples: Sample[] = [];
  let doubtsUntil = Number.NEGATIVE_INFINITY;
  let losses = 0;
  /** The memory before the last failover, until it is known whether that failover lost commits. */
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
    // `kept`: the newest sample that Postgres still has. Positions of another cluster cannot be compared with the samples.
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

  /**
   * Postgres tells where a timeline began only after its first checkpoint. Until then a failover is reported as possible;
   * a later reading may show that it lost commits, and reports it again as certain.
   */
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
      // An earlier answer from the same server has reported this loss: `known` is a position of that server.
      const isReported = kind !== undefined && known !== undefined && compare(known, found) === undefined;
      if (kind !== undefined && !isReported) lose(kind, found, asked.at, { known, samples });
      else if (settle(found, asked.at)) return;
      // An answer behind `known` was overtaken by the answer with `known`: the next answer is compared instead.
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

/** The kind of loss between two readings; undefined when the later one has everything that the earlier one had. */
function compare(before: Position, found: Position): LossKind | undefined {
  if (before.server !== found.server && before.server !== null && found.server !== null) return 'failed_over';
  if (found.timeline < before.timeline || before.flushed > keptUntil(before, found)) return 'lost_commits';
  return found.timeline > before.timeline ? 'failed_over' : undefined;
}

/** The last position of the earlier server's log that the later server has too. */
function keptUntil(before: Position | undefined, found: Position): number {
  return before === undefined || before.timeline === found.timeline ? found.flushed : found.beganBy;
}
