import type { Knex } from 'knex';

const unanswered = new WeakSet<object>();

/** The error of a COMMIT without an answer: Postgres may have carried it out. */
export function markUnanswered(error: unknown): void {
  if (typeof error === 'object' && error !== null) unanswered.add(error);
}

export function isUnanswered(error: unknown): boolean {
  return typeof error === 'object' && error !== null && unanswered.has(error);
}

/**
 * Says what a transaction has done when it has committed, and the transactions around it have; at once outside of one. A
 * transaction that is rolled back has done nothing, and nothing is said. `say` must not fail.
 */
export function afterCommit(db: Knex, say: () => void): void {
  sayAtEnd(db, say, false);
}

/**
 * Does as `afterCommit`, and says it also when COMMIT got no answer: for lines that call a person. The repeated write does
 * nothing when the first was carried out, and says nothing either.
 */
export function unlessRolledBack(db: Knex, say: () => void): void {
  sayAtEnd(db, say, true);
}

function sayAtEnd(db: Knex, say: () => void, orUnanswered: boolean): void {
  if (!isTransaction(db)) {
    say();
    return;
  }
  const { executionPromise, parentTransaction } = db;
  executionPromise.then(
    () => (parentTransaction === undefined ? say() : sayAtEnd(parentTransaction, say, orUnanswered)),
    (error: unknown) => {
      if (orUnanswered && isUnanswered(error)) say();
    },
  );
}

function isTransaction(db: Knex): db is Knex.Transaction {
  return db.isTransaction === true;
}
