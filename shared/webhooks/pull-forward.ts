import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { now } from '../process/clock.js';
import { LONGEST_PAUSES_MS } from './backoff.js';
import { PULL_FORWARD } from './statements/pull-forward.sql.js';
import { LEASE_MS } from './take-due.js';

/** Longer than the lease of a try and the pause of a delivery whose secret cannot be read. */
const LONGEST_LEASE_MS = Math.max(LEASE_MS, 60_000);

/** Due times that were written before Postgres' clock was set back lie too far ahead: these deliveries are due now. */
export async function pullForward(db: Knex): Promise<void> {
  await runStatement(db, PULL_FORWARD, [now(), LONGEST_LEASE_MS, LONGEST_PAUSES_MS]);
}
