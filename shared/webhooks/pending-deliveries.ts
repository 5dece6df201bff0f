import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { now } from '../process/clock.js';
import {
  ACCOUNTS_TO_SWEEP,
  DROP_SOME,
  MARK_DELETED,
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

/** Accounts that one round sweeps, an endpoint of each, and the deliveries of a batch. */
const ACCOUNTS_A_ROUND = 20;
const BATCH = 1000;

export async function dropSome(trx: Knex.Transaction, endpointId: string): Promise<void> {
  const { from, to } = DELIVERY_MOVES.drop;
  await runStatement(trx, DROP_SOME, [endpointId, DROPPED_AT_ONCE, from, to]);
}

/** For deliveries that an event wrote for an endpoint while it was being deleted. */
export async function sweepDeleted(db: Knex, endpointIds: readonly string[]): Promise<void> {
  if (endpointIds.length > 0) await runStatement(db, MARK_DELETED, [endpointIds, FROM_THE_FIRST]);
}

/** One batch for each of some accounts. Any number of workers may do so at once. */
export async function sweepEndpoints(db: Knex): Promise<void> {
  const endpoints = await runStatement<{ id: string }>(db, ACCOUNTS_TO_SWEEP, [ACCOUNTS_A_ROUND]);
  const { from, to } = DELIVERY_MOVES.drop;
  for (const { id } of endpoints) await runStatement(db, SWEEP_ENDPOINT, [id, BATCH, now(), from, to]);
}
