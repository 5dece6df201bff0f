import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { SET_LEASE_END, TAKE_LEASE } from './statements/positions.sql.js';

/** Longer than a worker works before it extends its lease. */
export const LEASE_SECONDS = 600;

/** Whether this worker has the lease of the regular run now, for LEASE_SECONDS. One worker at a time has it. */
export async function takeLease(db: Knex, everySeconds: number): Promise<boolean> {
  return (await runStatement(db, TAKE_LEASE, [everySeconds, LEASE_SECONDS])).length > 0;
}

/** Sets the time from which any worker may take the lease. */
export async function setLeaseEnd(db: Knex, inSeconds: number): Promise<void> {
  await runStatement(db, SET_LEASE_END, [inSeconds]);
}
