import type { Knex } from './knex.js';

/**
 * What is asked of Postgres within one turn of the event loop shares one statement, and a busy process one round trip
 * for all its clients of that moment. None joins a statement that was sent before it was asked for, so each sees what
 * was committed before it; when the statement fails, it has failed for all of them.
 */
export type Send<Item, Result> = (db: Knex, items: readonly Item[]) => Promise<(Result | undefined)[]>;

interface Waiting<Item, Result> {
  item: Item;
  resolve(result: Result | undefined): void;
  reject(error: unknown): void;
}

/** Of one statement. */
const MOST = 100;

/**
 * `send` gives as many results as it was given items, in their order. Items with the same `apart` never share a
 * statement.
 */
export function together<Item, Result>(
  send: Send<Item, Result>,
  apart: (item: Item) => string | undefined = () => undefined,
): (db: Knex, item: Item) => Promise<Result | undefined> {
  const waitingOn = new WeakMap<Knex, Waiting<Item, Result>[]>();

  async function sendAll(db: Knex, waiting: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const items = waiting.map(({ item }) => item);
      const results = await send(db, items);
      for (const [index, { resolve }] of waiting.entries()) resolve(results[index]);
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }

  return (db, item) =>
    new Promise((resolve, reject) => {
      const waiting = waitingOn.get(db) ?? [];
      waiting.push({ item, resolve, reject });
      if (waiting.length > 1) return;
      waitingOn.set(db, waiting);
      setImmediate(() => {
        waitingOn.delete(db);
        for (const group of groupsOf(waiting, ({ item }) => apart(item))) void sendAll(db, group);
      });
    });
}

interface Group<T> {
  members: T[];
  words: Set<string>;
}

function groupsOf<T>(all: readonly T[], apart: (one: T) => string | undefined): T[][] {
  const groups: Group<T>[] = [];
  for (const one of all) {
    const word = apart(one);
    const takes = ({ members, words }: Group<T>): boolean =>
      members.length < MOST && (word === undefined || !words.has(word));
    const group = groups.find(takes) ?? { members: [], words: new Set<string>() };
    if (group.members.length === 0) groups.push(group);
    group.members.push(one);
    if (word !== undefined) group.words.add(word);
  }
  return groups.map(({ members }) => members);
}
