import { collectForOneTurn } from '../one-turn.js';
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

/** Of one statement. */
const MOST = 100;

/** `read` gives as many values as it was given keys, in their order. */
export function readTogether<Key, Value>(
  read: ReadMany<Key, Value>,
  most = MOST,
): (db: Knex, key: Key) => Promise<Value | undefined> {
  const collectors = new WeakMap<Knex, (one: Waiting<Key, Value>) => void>();

  async function send(db: Knex, waiting: readonly Waiting<Key, Value>[]): Promise<void> {
    try {
      const keys = waiting.map(({ key }) => key);
      const values = await read(db, keys);
      for (const [index, { resolve }] of waiting.entries()) resolve(values[index]);
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }

  function collectorOf(db: Knex): (one: Waiting<Key, Value>) => void {
    const known = collectors.get(db);
    if (known !== undefined) return known;
    const collector = collectForOneTurn<Waiting<Key, Value>>((waiting) => {
      for (let from = 0; from < waiting.length; from += most) void send(db, waiting.slice(from, from + most));
    });
    collectors.set(db, collector);
    return collector;
  }

  return (db, key) => new Promise((resolve, reject) => collectorOf(db)({ key, resolve, reject }));
}
