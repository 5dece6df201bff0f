import { MAX_WRITTEN_BATCH_BYTES } from '../limits/bounds.js';
import { rootOf } from './connection-shares.js';
import type { Knex } from './knex.js';
import { isRefusal } from './postgres-errors.js';

/**
 * Writes of one kind that arrive while others are in flight share one statement and one commit. The statement must not
 * wait for row locks (SKIP LOCKED): the items that it skips are written one by one afterwards, and so are all items when
 * Postgres refuses the statement.
 */
export interface BatchedWrite<Item, Result> {
  /** A batch holds at most one item per key. */
  keyOf(item: Item): string;
  /** The approximate size of the item in the statement; omitted where all items are small. */
  bytesOf?(item: Item): number;
  /** A batch of this many items is sent while others are in flight. Default SEND_AT_ITEMS. */
  sendAtItems?: number;
  /** How long the first item of a batch waits for more. Applies only when the previous batch had more than one item. */
  lingerMs?: number;
  /** One result per item, in the order of the items; undefined for skipped items. */
  writeBatch(db: Knex, items: readonly Item[]): Promise<(Result | undefined)[]>;
  writeOne(db: Knex, item: Item): Promise<Result>;
  /** The item may or may not have been written. Default: the write rejects with the error. */
  onBrokenConnection?(db: Knex, item: Item): Promise<Result>;
}

interface Waiting<Item, Result> {
  /** The item's own, whose share its account has; a batch belongs to no account. */
  db: Knex;
  item: Item;
  resolve(result: Result | Promise<Result>): void;
}

/**
 * Milliseconds for a caller's `lingerMs`: a batch of two costs Postgres, the driver and the kernel nearly as much as one of
 * ten.
 */
export const LINGER_MS = 4;

/** Items per statement. */
const MAX_ITEMS = 50;
/** A batch waits no longer than this for the batches in flight, which may be stuck. */
const MAX_WAIT_MS = 20;
/** A batch of this many items is sent without waiting, so that Postgres and this process work at the same time. */
const SEND_AT_ITEMS = 10;
const MAX_BATCHES_IN_FLIGHT = 3;

export function batchWrites<Item, Result>(
  write: BatchedWrite<Item, Result>,
): (db: Knex, item: Item) => Promise<Result> {
  const batchers = new WeakMap<Knex, (waiting: Waiting<Item, Result>) => void>();
  return (db, item) =>
    new Promise((resolve) => {
      const root = rootOf(db);
      const add = batchers.get(root) ?? openBatcher(root, write);
      batchers.set(root, add);
      add({ db, item, resolve });
    });
}

function openBatcher<Item, Result>(
  db: Knex,
  write: BatchedWrite<Item, Result>,
): (waiting: Waiting<Item, Result>) => void {
  const { sendAtItems = SEND_AT_ITEMS, lingerMs = 0 } = write;
  let waiting: Waiting<Item, Result>[] = [];
  let inFlight = 0;
  let maxWait: NodeJS.Timeout | undefined;
  let linger: NodeJS.Timeout | undefined;
  let wasShared = false;
  let isScheduled = false;

  /**
   * Schedules a batch. With nothing in flight it is sent at the end of this turn of the event loop, so that the items of one
   * turn share it.
   */
  function schedule(): void {
    if (waiting.length === 0 || isScheduled) return;
    if (waiting.length >= sendAtItems && inFlight < MAX_BATCHES_IN_FLIGHT) {
      send();
      return;
    }
    if (inFlight > 0) {
      maxWait ??= setTimeout(send, MAX_WAIT_MS);
      return;
    }
    if (lingerMs > 0 && wasShared) {
      linger ??= setTimeout(send, lingerMs);
      return;
    }
    isScheduled = true;
    setImmediate(send);
  }

  function send(): void {
    clearTimeout(maxWait);
    clearTimeout(linger);
    maxWait = undefined;
    linger = undefined;
    isScheduled = false;
    const { batch, rest } = takeBatch(waiting, write);
    waiting = rest;
    wasShared = batch.length > 1;
    inFlight += 1;
    void writeAll(batch).finally(() => {
      inFlight -= 1;
      schedule();
    });
    schedule();
  }

  async function writeAll(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const items = batch.map(({ item }) => item);
      const results = await write.writeBatch(db, items);
      for (const [index, { db: own, item, resolve }] of batch.entries()) {
        const result = results[index];
        resolve(result === undefined ? write.writeOne(own, item) : result);
      }
    } catch (error) {
      for (const { db: own, item, resolve } of batch)
        resolve(
          isRefusal(error)
            ? write.writeOne(own, item)
            : (write.onBrokenConnection?.(own, item) ?? Promise.reject(error)),
        );
    }
  }

  return (one) => {
    waiting.push(one);
    schedule();
  };
}

/** Divides the waiting items into the next batch and the rest. */
function takeBatch<Item, Result>(
  waiting: readonly Waiting<Item, Result>[],
  { keyOf, bytesOf }: BatchedWrite<Item, Result>,
): Record<'batch' | 'rest', Waiting<Item, Result>[]> {
  const keys = new Set<string>();
  const batch: Waiting<Item, Result>[] = [];
  const rest: Waiting<Item, Result>[] = [];
  let bytes = 0;
  for (const one of waiting) {
    const key = keyOf(one.item);
    bytes += bytesOf?.(one.item) ?? 0;
    const isFull = batch.length === MAX_ITEMS || (batch.length > 0 && bytes > MAX_WRITTEN_BATCH_BYTES);
    (keys.has(key) || isFull ? rest : batch).push(one);
    keys.add(key);
  }
  return { batch, rest };
}
