import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { now } from '../process/clock.js';
import { DUE_QUARANTINED, LOCK_ENDPOINT_OF, TAKE_QUARANTINED } from './statements/take-quarantined.sql.js';
import {
  type ChosenEndpoint,
  leaseFrom,
  leaveOutClosed,
  presentTaken,
  type TakenDelivery,
  type TakenRow,
} from './take-due.js';

/** A delivery that so many takers have died with that it is taken alone. */
export interface DueQuarantined {
  id: string;
  deaths: number;
}

export async function listQuarantinedDeliveries(db: Knex, limit: number): Promise<DueQuarantined[]> {
  return await runStatement<DueQuarantined>(db, DUE_QUARANTINED, [now(), limit]);
}

/** Undefined when somebody else has it, or its endpoint takes nothing any more. */
export async function takeQuarantinedDelivery(db: Knex, id: string): Promise<TakenDelivery | undefined> {
  return await db.transaction(async (trx) => {
    const at = now();
    const endpoints = await runStatement<ChosenEndpoint & { accountId: string }>(trx, LOCK_ENDPOINT_OF, [
      id,
      at,
    ]);
    const [endpoint] = await leaveOutClosed(trx, endpoints);
    if (endpoint === undefined) return undefined;
    const [row] = await runStatement<TakenRow>(trx, TAKE_QUARANTINED, [at, leaseFrom(at), id]);
    return row && presentTaken(row, endpoint);
  });
}
