import { batchReads } from '../db/batch-reads.js';
import type { ConnectionShares } from '../db/connection-shares.js';
import type { Knex } from '../db/knex.js';
import type { Replica } from '../db/replica.js';
import { runStatement } from '../db/statement.js';
import type { Principal } from './api-keys.js';
import { MAY_READ_REPLICA } from './statements/recent-writes.sql.js';

/**
 * Routes a merchant's reads to the standby or the primary. The standby serves a read when the primary confirms that the
 * key is active and the account has not written recently. When the standby fails, finds nothing, or `isSettled` is false
 * for what it found, the read is repeated on the primary: the standby may lag.
 */
export type AccountReads = <T>(
  principal: Principal,
  read: (db: Knex) => Promise<T>,
  isSettled?: (found: T) => boolean,
) => Promise<T>;

export function openAccountReads(connections: ConnectionShares, replica: Replica | undefined): AccountReads {
  if (replica === undefined) return ({ accountId }, read) => read(connections.of(accountId));
  return async (principal, read, isSettled = () => true) => {
    const shownUntil = replica.shownUntil();
    const { keyId, accountId } = principal;
    const db = connections.of(accountId);
    if (shownUntil === undefined) return await read(db);
    if ((await mayReadReplica(db, { keyId, accountId, shownUntil })) !== true) return await read(db);
    const answer = await replica.ask(read);
    return answer !== undefined && isSettled(answer.found) ? answer.found : await read(db);
  };
}

interface ReplicaRead {
  keyId: string;
  accountId: string;
  shownUntil: string;
}

const mayReadReplica = batchReads<ReplicaRead, true>(async (db, asked) => {
  const rows = await runStatement<{ position: number }>(db, MAY_READ_REPLICA, [
    asked.map(({ keyId }) => keyId),
    asked.map(({ accountId }) => accountId),
    asked.map(({ shownUntil }) => shownUntil),
  ]);
  const may = new Set(rows.map(({ position }) => position));
  return asked.map((_, index) => may.has(index + 1) || undefined);
});
