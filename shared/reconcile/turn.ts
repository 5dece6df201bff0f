import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { KEEP_TURN, TAKE_TURN } from './statements/positions.sql.js';

/** Longer than a worker works between two times that it keeps its turn. */
export const LEASE_SECONDS = 600;

/** Whether this worker has the turn now, for LEASE_SECONDS. One worker at a time has it. */
export async function takeTurn(db: Knex, everySeconds: number): Promise<boolean> {
  return (await runStatement(db, TAKE_TURN, [everySeconds, LEASE_SECONDS])).length > 0;
}

/** Puts the next turn this far away. */
export async function keepTurn(db: Knex, seconds: number): Promise<void> {
  await runStatement(db, KEEP_TURN, [seconds]);
}
