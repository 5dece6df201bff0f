import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { LATE_MS } from '../jobs/jobs.js';
import { now } from '../process/clock.js';
import { markForSweep } from './pending-deliveries.js';
import { DUE_QUARANTINED, STEP_FROM_ENDPOINT_TO_ENDPOINT } from './statements/find-due.sql.js';

interface DueAccounts {
  /** Ids of accounts with due deliveries. */
  due: string[];
  /** The accounts in `due` whose deliveries no worker has taken in the LATE_MS since they were due. */
  late: string[];
  /** The endpoint after which the next call continues; empty at the end of the round. */
  last: string;
}

interface Step {
  seen: number;
  last: string | null;
  accounts: string[];
  late: string[];
  deleted: string[];
}

/**
 * Steps along the index from endpoint to endpoint, so that a thousand due deliveries of one endpoint cost one step. Marks
 * deleted endpoints for which an event wrote deliveries during the deletion: no other code finds these deliveries.
 */
export async function findDueAccounts(db: Knex, after: string, limit: number): Promise<DueAccounts> {
  const at = now();
  const bindings = [after, limit, at, new Date(at.getTime() - LATE_MS)];
  const [step] = await runStatement<Step>(db, STEP_FROM_ENDPOINT_TO_ENDPOINT, bindings);
  if (step === undefined) return { due: [], late: [], last: '' };
  await markForSweep(db, step.deleted);
  return { due: step.accounts, late: step.late, last: step.seen < limit ? '' : (step.last ?? '') };
}

/** A due delivery that workers have crashed on so often that it is taken alone. */
interface DueQuarantined {
  id: string;
  crashes: number;
}

export async function listQuarantinedDeliveries(db: Knex, limit: number): Promise<DueQuarantined[]> {
  return await runStatement<DueQuarantined>(db, DUE_QUARANTINED, [now(), limit]);
}
