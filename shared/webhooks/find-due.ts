import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { now } from '../process/clock.js';
import { dropPending } from './hold.js';
import { STEP_FROM_ENDPOINT_TO_ENDPOINT } from './statements/find-due.sql.js';

export interface AccountsSeen {
  /** Those that have something due. */
  due: string[];
  /** Where to go on the next time; empty at the end of the round. */
  last: string;
}

interface Seen {
  seen: number;
  last: string | null;
  accounts: string[];
  deleted: string[];
}

/**
 * Steps along the index from endpoint to endpoint, so that a thousand deliveries due to one hide no other. What an event
 * wrote for an endpoint while that was being deleted is dropped: nobody else would come upon it.
 */
export async function findDueAccounts(db: Knex, after: string, limit: number): Promise<AccountsSeen> {
  const [found] = await runStatement<Seen>(db, STEP_FROM_ENDPOINT_TO_ENDPOINT, [after, limit, now()]);
  if (found === undefined) return { due: [], last: '' };
  for (const endpointId of found.deleted) await db.transaction((trx) => dropPending(trx, endpointId));
  return { due: found.accounts, last: found.seen < limit ? '' : (found.last ?? '') };
}
