import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { JOB_NAMES, type JobName } from '../jobs/jobs.js';
import { LEAVE_SERVED, NOTE_SERVED } from './statements/served-queues.sql.js';

/** A killed worker counts for this time. */
const SEEN_WITHIN_MS = 60_000;

/** Notes which queues this worker serves, and returns the queues that no worker has served lately. */
export async function findUnserved(
  db: Knex,
  { worker, queues }: { worker: string; queues: readonly JobName[] },
): Promise<JobName[]> {
  const others = await runStatement<{ queue: string }>(db, NOTE_SERVED, [worker, queues, SEEN_WITHIN_MS]);
  const served = new Set<string>([...queues, ...others.map(({ queue }) => queue)]);
  return JOB_NAMES.filter((name) => !served.has(name));
}

export async function leaveServed(db: Knex, worker: string): Promise<void> {
  await runStatement(db, LEAVE_SERVED, [worker]);
}
