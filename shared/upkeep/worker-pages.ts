import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { MAX_WORKER_PAGES } from '../limits/bounds.js';
import { now, nowMs } from '../process/clock.js';
import { FORGET_WORKERS, READ_WORKER_PAGES, WRITE_WORKER_PAGE } from './statements/worker-pages.sql.js';

/** The metrics pages of workers that nobody can ask, as each wrote its own a moment ago. */
const SHOWN_FOR_MS = 60_000;
const KEPT_FOR_MS = 3_600_000;

export async function writeWorkerPage(db: Knex, worker: string, page: string): Promise<void> {
  await runStatement(db, WRITE_WORKER_PAGE, [worker, page, now()]);
}

/** Of those who wrote within the last minute. */
export async function readWorkerPages(db: Knex): Promise<string[]> {
  const since = new Date(nowMs() - SHOWN_FOR_MS);
  const rows = await runStatement<{ page: string }>(db, READ_WORKER_PAGES, [since, MAX_WORKER_PAGES]);
  return rows.map(({ page }) => page);
}

export async function forgetWorkers(db: Knex): Promise<void> {
  await runStatement(db, FORGET_WORKERS, [new Date(nowMs() - KEPT_FOR_MS)]);
}
