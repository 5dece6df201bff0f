import { batchReads } from '../db/batch-reads.js';
import type { Knex } from '../db/knex.js';
import type { Replica } from '../db/replica.js';
import { runStatement } from '../db/statement.js';
import type { Principal } from './api-keys.js';
import { MAY_ASK_STANDBY } from './statements/recent-writes.sql.js';

/**
 * Where a merchant's reads are asked. The standby, if there is one, answers those whose key counts and whose account has
 * not written lately, of which the primary is asked each time. What the standby does not find, refuses or fails at, and
 * what `isSettled` does not hold for, is asked of the primary again: it may only not have come there yet.
 */
export type OwnReads = <T>(
  principal: Principal,
  read: (db: Knex) => Promise<T>,
  isSettled?: (found: T) => boolean,
) => Promise<T>;

export function openOwnReads(db: Knex, replica: Replica | undefined): OwnReads {
  if (replica === undefined) return (_principal, read) => read(db);
  return async (principal, read, isSettled = () => true) => {
    const shownUntil = replica.shownUntil();
    if (shownUntil === undefined) return await read(db);
    const { keyId, accountId } = principal;
    if ((await mayAskStandby(db, { keyId, accountId, shownUntil })) !== true) return await read(db);
    const answer = await replica.ask(read);
    return answer !== undefined && isSettled(answer.found) ? answer.found : await read(db);
  };
}

interface Asked {
  keyId: string;
  accountId: string;
  shownUntil: string;
}

const mayAskStandby = batchReads<Asked, true>(async (db, asked) => {
  const rows = await runStatement<{ position: number }>(db, MAY_ASK_STANDBY, [
    asked.map(({ keyId }) => keyId),
    asked.map(({ accountId }) => accountId),
    asked.map(({ shownUntil }) => shownUntil),
  ]);
  const may = new Set(rows.map(({ position }) => position));
  return asked.map((_, index) => may.has(index + 1) || undefined);
});
