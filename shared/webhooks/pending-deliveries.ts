import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { now } from '../process/clock.js';
import {
  DROP_SOME,
  ENDPOINTS_TO_SWEEP,
  MARK_FOR_SWEEP,
  SWEEP_ENDPOINT,
} from './statements/pending-deliveries.sql.js';
import { DELIVERY_MOVES } from './states.js';

/*
 * Pending deliveries of a disabled endpoint are held: the statements that take deliveries read the endpoint's status. When
 * it is enabled again, deliveries with a later due time become due, and deliveries of a deleted endpoint are dropped, in
 * batches by the workers' sweep.
 */

/** The start of a sweep through an endpoint's deliveries; every id is later. */
export const FROM_THE_FIRST = '';

/** Deliveries that the request which deletes an endpoint drops itself. Few endpoints have more. */
const DROPPED_AT_ONCE = 100;

/** The limits of one round. After ROUND_MS it begins no further endpoint. */
const ACCOUNTS_A_ROUND = 20;
const ENDPOINTS_OF_ACCOUNT = 100;
const DELIVERIES_OF_ACCOUNT = 1000;
const ROUND_MS = 500;

export async function dropSome(trx: Knex.Transaction, endpointId: string): Promise<void> {
  const { from, to } = DELIVERY_MOVES.drop;
  await runStatement(trx, DROP_SOME, [endpointId, DROPPED_AT_ONCE, from, to]);
}

/** Marks deleted endpoints for another sweep: an event wrote deliveries for them during the deletion. */
export async function markForSweep(db: Knex, endpointIds: readonly string[]): Promise<void> {
  if (endpointIds.length > 0) await runStatement(db, MARK_FOR_SWEEP, [endpointIds, FROM_THE_FIRST]);
}

/** Runs one round. Any number of workers may run rounds at once. */
export async function sweepEndpoints(db: Knex): Promise<void> {
  const bindings = [ACCOUNTS_A_ROUND, ENDPOINTS_OF_ACCOUNT];
  const accounts = await runStatement<{ endpoints: string[] }>(db, ENDPOINTS_TO_SWEEP, bindings);
  const untilMs = performance.now() + ROUND_MS;
  for (const { endpoints } of accounts) {
    let left = DELIVERIES_OF_ACCOUNT;
    for (const id of endpoints) {
      if (left <= 0 || performance.now() > untilMs) break;
      left -= await sweepOne(db, id, left);
    }
  }
}

async function sweepOne(db: Knex, endpointId: string, limit: number): Promise<number> {
  const { from, to } = DELIVERY_MOVES.drop;
  const bindings = [endpointId, limit, now(), from, to];
  const [row] = await runStatement<{ swept: number }>(db, SWEEP_ENDPOINT, bindings);
  return row?.swept ?? 0;
}
