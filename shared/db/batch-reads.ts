import type { Release } from '../limits/budget.js';
import { openConcurrency, UNLIMITED } from '../limits/concurrency.js';
import { batchPerTurn } from '../process/batch-per-turn.js';
import { isDatabaseUnavailable } from './constraints.js';
import type { Knex } from './knex.js';

/**
 * Reads by key that are asked for within one turn of the event loop share one statement, so a busy process makes one round
 * trip for all its clients of that moment. A read never joins a statement that was sent before it was asked for, so it sees
 * what was committed before. A statement that fails has failed for all its reads.
 */
export type ReadMany<Key, Value> = (db: Knex, keys: readonly Key[]) => Promise<(Value | undefined)[]>;

interface Waiting<Key, Value> {
  key: Key;
  resolve(value: Value | undefined): void;
  reject(error: unknown): void;
}

export interface Together {
  /** Keys of one statement. */
  most?: number;
  /** Statements in flight; further keys wait for the next one. For reads that keep Postgres busy. */
  atOnce?: number;
}

const MOST = 100;

/** `read` returns as many values as it was given keys, in their order. */
export function batchReads<Key, Value>(
  read: ReadMany<Key, Value>,
  { most = MOST, atOnce }: Together = {},
): (db: Knex, key: Key) => Promise<Value | undefined> {
  const collectors = new WeakMap<Knex, (one: Waiting<Key, Value>) => void>();

  function open(db: Knex): (one: Waiting<Key, Value>) => void {
    const queue: Waiting<Key, Value>[] = [];
    const statements = atOnce === undefined ? UNLIMITED : openConcurrency({ total: atOnce });

    function sendSome(): void {
      while (queue.length > 0) {
        const release = statements.tryTake();
        if (release === undefined) return;
        void send(queue.splice(0, most), release);
      }
    }

    async function send(waiting: readonly Waiting<Key, Value>[], release: Release): Promise<void> {
      try {
        const keys = waiting.map(({ key }) => key);
        const values = await read(db, keys);
        for (const [index, { resolve }] of waiting.entries()) resolve(values[index]);
      } catch (error) {
        // No read waits in the queue for a database that is unavailable.
        const failed = isDatabaseUnavailable(error) ? [...waiting, ...queue.splice(0)] : waiting;
        for (const { reject } of failed) reject(error);
      } finally {
        release();
        sendSome();
      }
    }

    return batchPerTurn<Waiting<Key, Value>>((waiting) => {
      queue.push(...waiting);
      sendSome();
    });
  }

  return (db, key) =>
    new Promise((resolve, reject) => {
      const collect = collectors.get(db) ?? open(db);
      collectors.set(db, collect);
      collect({ key, resolve, reject });
    });
}
