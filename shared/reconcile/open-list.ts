import { type Position, readPosition, writePosition } from './positions.js';
import type { NetworkRun } from './run.js';

/** Some of the newest transfers are read again by the next run: so long before its end a run has surely read all. */
const READ_AGAIN_MS = 3_600_000;

export type NewPosition = Pick<Position, 'position' | 'reported'> & Partial<Pick<Position, 'unchecked'>>;

/** A list with the position where the last run stopped, which is kept as this run goes on. */
interface OpenList {
  last: Position | undefined;
  /** The last position, unless this run begins at a time of its own. */
  resumed: Position | undefined;
  keep(position: NewPosition): Promise<void>;
  /** The list is read up to this time. */
  keepAtEnd(position: NewPosition, until: Date): Promise<void>;
}

/**
 * A run with a `--since` beyond the last position keeps no position of its own: the next run without `--since` starts from the
 * last position, and so reads the gap.
 */
export async function openList({ run, deps: { db }, network }: NetworkRun, name: string): Promise<OpenList> {
  const { reader, accountId, since, firstTime, startedAt } = run;
  const list = { reader, part: accountId ?? 'all', network, list: name };
  const last = await readPosition(db, list);
  const leavesGap =
    last !== undefined && since !== undefined && (last.readUntil === null || since > last.readUntil);
  const begunAt = since ?? (last === undefined ? firstTime : last.readUntil);
  const write = async (position: NewPosition, readUntil: Date | null): Promise<void> => {
    if (!leavesGap) await writePosition(db, list, { unchecked: [], ...position, readUntil });
  };
  return {
    last,
    resumed: since === undefined ? last : undefined,
    keep: (position) => write(position, begunAt),
    keepAtEnd: (position, until) =>
      write(position, new Date(Math.min(until.getTime(), startedAt.getTime()) - READ_AGAIN_MS)),
  };
}
