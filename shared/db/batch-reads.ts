import { batchPerTurn } from '../process/batch-per-turn.js';
import { isDatabaseUnavailable } from './constraints.js';
import type { Knex } from './knex.js';

/**
 * Reads by key that are asked for within one turn of the event loop share one statement, and a busy process one round
 * trip for all its clients of that moment. None joins a statement that was sent before it was asked for, so each sees
 * what was committed before it; when the statement fails, it has failed for all of them.
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
  /** Statements on their way; what is asked for beyond them waits. For reads that keep Postgres busy. */
  atOnce?: number;
}

const MOST = 100;

/** `read` gives as many values as it was given keys, in their order. */
export function batchReads<Key, Value>(
  read: ReadMany<Key, Value>,
  { most = MOST, atOnce = Number.POSITIVE_INFINITY }: Together = {},
): (db: Knex, key: Key) => Promise<Value | undefined> {
  const collectors = new WeakMap<Knex, (one: Waiting<Key, Value>) => void>();

  function open(db: Knex): (one: Waiting<Key, Value>) => void {
    const inLine: Waiting<Key, Value>[] = [];
    let onTheirWay = 0;

    function sendSome(): void {
      while (inLine.length > 0 && onTheirWay < atOnce) void send(inLine.splice(0, most));
    }

    async function send(waiting: readonly Waiting<Key, Value>[]): Promise<void> {
      onTheirWay += 1;
      try {
        const keys = waiting.map(({ key }) => key);
        const values = await read(db, keys);
        for (const [index, { resolve }] of waiting.entries()) resolve(values[index]);
      } catch (error) {
        // Nobody stands in line for a database that is away.
        const failed = isDatabaseUnavailable(error) ? [...waiting, ...inLine.splice(0)] : waiting;
        for (const { reject } of failed) reject(error);
      } finally {
        onTheirWay -= 1;
        sendSome();
      }
    }

    return batchPerTurn<Waiting<Key, Value>>((waiting) => {
      inLine.push(...waiting);
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
