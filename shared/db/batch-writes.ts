import { MAX_WRITTEN_BATCH_BYTES } from '../limits/bounds.js';
import { isRefusal } from './constraints.js';
import type { Knex } from './knex.js';

/**
 * Writes of one kind that are asked for while others of that kind are on their way go together, in one statement and
 * one commit. The statement waits for no row that another transaction holds: what it leaves out goes alone afterwards,
 * and so does everything when Postgres refuses it as a whole.
 */
export interface BatchedWrite<Item, Result> {
  /** Of items with the same key, one at most goes with others. */
  keyOf(item: Item): string;
  /** About as much as its part of the statement; where all are small, and known to be, nobody asks. */
  bytesOf?(item: Item): number;
  /** So many do not wait for those under way; ENOUGH of what somebody waits for. */
  enough?: number;
  /** Who comes first waits a moment for others, if there were others the last time. By itself nobody waits. */
  likesCompany?: boolean;
  /** As many results as items, in their order; undefined for those it has left out. */
  together(db: Knex, items: readonly Item[]): Promise<(Result | undefined)[]>;
  alone(db: Knex, item: Item): Promise<Result>;
  /** The connection broke: the item may have been written. */
  unclear(db: Knex, item: Item, error: unknown): Promise<Result>;
}

interface Waiting<Item, Result> {
  item: Item;
  resolve(result: Result | Promise<Result>): void;
}

/** Of one statement. */
const MOST = 50;
/** How long a group is waited for: nobody is held up for longer by writes that are stuck. */
const PATIENCE_MS = 20;
/** So many are company enough: they leave while others are on their way, and Postgres works while we do. */
const ENOUGH = 10;
const MOST_UNDER_WAY = 3;
/** A group of two costs Postgres, the driver and the kernel nearly as much as one of ten. */
const COMPANY_MS = 4;

export function batchWrites<Item, Result>(
  write: BatchedWrite<Item, Result>,
): (db: Knex, item: Item) => Promise<Result> {
  const groups = new WeakMap<Knex, (waiting: Waiting<Item, Result>) => void>();
  return (db, item) =>
    new Promise((resolve) => {
      const join = groups.get(db) ?? openGroup(db, write);
      groups.set(db, join);
      join({ item, resolve });
    });
}

function openGroup<Item, Result>(
  db: Knex,
  write: BatchedWrite<Item, Result>,
): (waiting: Waiting<Item, Result>) => void {
  const { enough = ENOUGH, likesCompany = false } = write;
  let waiting: Waiting<Item, Result>[] = [];
  let inFlight = 0;
  let patience: NodeJS.Timeout | undefined;
  let company: NodeJS.Timeout | undefined;
  let hadCompany = false;
  let isLeaving = false;

  /** At the end of this turn of the event loop when nothing is under way, so that all of one turn go together. */
  function schedule(): void {
    if (waiting.length === 0 || isLeaving) return;
    if (waiting.length >= enough && inFlight < MOST_UNDER_WAY) {
      leave();
      return;
    }
    if (inFlight > 0) {
      patience ??= setTimeout(leave, PATIENCE_MS);
      return;
    }
    if (likesCompany && hadCompany) {
      company ??= setTimeout(leave, COMPANY_MS);
      return;
    }
    isLeaving = true;
    setImmediate(leave);
  }

  function leave(): void {
    clearTimeout(patience);
    clearTimeout(company);
    patience = undefined;
    company = undefined;
    isLeaving = false;
    const { group, rest } = divide(waiting, write);
    waiting = rest;
    hadCompany = group.length > 1;
    inFlight += 1;
    void carry(group).finally(() => {
      inFlight -= 1;
      schedule();
    });
    schedule();
  }

  async function carry(group: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const items = group.map(({ item }) => item);
      const results = await write.together(db, items);
      for (const [index, { item, resolve }] of group.entries()) {
        const result = results[index];
        resolve(result === undefined ? write.alone(db, item) : result);
      }
    } catch (error) {
      for (const { item, resolve } of group)
        resolve(isRefusal(error) ? write.alone(db, item) : write.unclear(db, item, error));
    }
  }

  return (one) => {
    waiting.push(one);
    schedule();
  };
}

/** Those that may go together, and those that are left for the next group. */
function divide<Item, Result>(
  waiting: readonly Waiting<Item, Result>[],
  { keyOf, bytesOf }: BatchedWrite<Item, Result>,
): Record<'group' | 'rest', Waiting<Item, Result>[]> {
  const keys = new Set<string>();
  const group: Waiting<Item, Result>[] = [];
  const rest: Waiting<Item, Result>[] = [];
  let bytes = 0;
  for (const one of waiting) {
    const key = keyOf(one.item);
    bytes += bytesOf?.(one.item) ?? 0;
    const isFull = group.length === MOST || (group.length > 0 && bytes > MAX_WRITTEN_BATCH_BYTES);
    (keys.has(key) || isFull ? rest : group).push(one);
    keys.add(key);
  }
  return { group, rest };
}
