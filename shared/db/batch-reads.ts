import type { Release } from '../limits/budget.js';
import { openConcurrency, UNLIMITED } from '../limits/concurrency.js';
import { batchPerTurn } from '../process/batch-per-turn.js';
import { rootOf } from './connection-shares.js';
import type { Knex } from './knex.js';
import { isDatabaseUnavailable } from './postgres-errors.js';

type ReadMany<Key, Value> = (db: Knex, keys: readonly Key[]) => Promise<(Value | undefined)[]>;

interface Waiting<Key, Value> {
  db: Knex;
  key: Key;
  resolve(value: Value | undefined): void;
  reject(error: unknown): void;
}

export interface BatchLimits {
  /** Keys per statement. */
  maxKeys?: number;
  /** Statements in flight; further reads wait in a queue. For reads that are expensive for Postgres. */
  maxStatements?: number;
}

const MAX_KEYS = 100;
/** A statement that takes longer may be stuck on a dead connection: others take its slot, and the pool is their bound. */
const SLOT_HELD_MS = 2000;

/**
 * Reads by key that start within one turn of the event loop share one statement. A read never joins a statement that was
 * already sent, so it sees everything committed before it started. A failed statement fails all its reads.
 * `read` returns one value per key, in the order of the keys.
 */
export function batchReads<Key, Value>(
  read: ReadMany<Key, Value>,
  { maxKeys = MAX_KEYS, maxStatements }: BatchLimits = {},
): (db: Knex, key: Key) => Promise<Value | undefined> {
  const batchers = new WeakMap<Knex, (waiting: Waiting<Key, Value>) => void>();

  function open(root: Knex): (waiting: Waiting<Key, Value>) => void {
    const queue: Waiting<Key, Value>[] = [];
    const statements = maxStatements === undefined ? UNLIMITED : openConcurrency({ total: maxStatements });

    function sendQueued(): void {
      while (queue.length > 0) {
        const release = statements.tryTake();
        if (release === undefined) return;
        void send(queue.splice(0, maxKeys), release);
      }
    }

    async function send(waiting: readonly Waiting<Key, Value>[], release: Release): Promise<void> {
      const freeSlot = setTimeout(() => {
        release();
        sendQueued();
      }, SLOT_HELD_MS);
      try {
        const keys = waiting.map(({ key }) => key);
        const values = await read(maxStatements === undefined ? commonDb(waiting, root) : root, keys);
        for (const [index, { resolve }] of waiting.entries()) resolve(values[index]);
      } catch (error) {
        // The queued reads fail too, instead of waiting for an unavailable database one batch after another.
        const failed = isDatabaseUnavailable(error) ? [...waiting, ...queue.splice(0)] : waiting;
        for (const { reject } of failed) reject(error);
      } finally {
        clearTimeout(freeSlot);
        release();
        sendQueued();
      }
    }

    return batchPerTurn<Waiting<Key, Value>>((waiting) => {
      queue.push(...waiting);
      sendQueued();
    });
  }

  return (db, key) =>
    new Promise((resolve, reject) => {
      const root = rootOf(db);
      const collect = batchers.get(root) ?? open(root);
      batchers.set(root, collect);
      collect({ db, key, resolve, reject });
    });
}

/** A statement for one account counts towards its share of the connections. One for several belongs to none of them. */
function commonDb(waiting: readonly { db: Knex }[], root: Knex): Knex {
  const db = waiting[0]?.db ?? root;
  return waiting.every((one) => one.db === db) ? db : root;
}
