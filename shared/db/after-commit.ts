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
 * Calls back when the outermost transaction of `db` has committed, or at once when `db` is no transaction. A rollback drops
 * the callback, which must not fail.
 */
export function afterCommit(db: Knex, callback: () => void): void {
  callAtEnd(db, callback, { orUnanswered: false });
}

/**
 * Calls back also when COMMIT got no answer: for log lines that alert a person. When Postgres carried that COMMIT out, the
 * repeated write does nothing and logs nothing.
 */
export function unlessRolledBack(db: Knex, callback: () => void): void {
  callAtEnd(db, callback, { orUnanswered: true });
}

function callAtEnd(db: Knex, callback: () => void, when: { orUnanswered: boolean }): void {
  if (!isTransaction(db)) {
    callback();
    return;
  }
  const { executionPromise, parentTransaction } = db;
  executionPromise.then(
    () => (parentTransaction === undefined ? callback() : callAtEnd(parentTransaction, callback, when)),
    (error: unknown) => {
      if (when.orUnanswered && isUnanswered(error)) callback();
    },
  );
}

function isTransaction(db: Knex): db is Knex.Transaction {
  return db.isTransaction === true;
}
