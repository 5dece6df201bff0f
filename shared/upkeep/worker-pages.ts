import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { MAX_WORKER_PAGES } from '../limits/bounds.js';
import { now, nowMs } from '../process/clock.js';
import { READ_WORKER_PAGES, REMOVE_OLD_PAGES, WRITE_WORKER_PAGE } from './statements/worker-pages.sql.js';

/** Metrics pages that workers without a metrics port store, for the web processes to serve. */
const SHOWN_FOR_MS = 60_000;
const KEPT_FOR_MS = 3_600_000;

export async function writeWorkerPage(db: Knex, worker: string, page: string): Promise<void> {
  await runStatement(db, WRITE_WORKER_PAGE, [worker, page, now()]);
}

/** The pages of workers that wrote within SHOWN_FOR_MS. */
export async function readWorkerPages(db: Knex): Promise<string[]> {
  const since = new Date(nowMs() - SHOWN_FOR_MS);
  const rows = await runStatement<{ page: string }>(db, READ_WORKER_PAGES, [since, MAX_WORKER_PAGES]);
  return rows.map(({ page }) => page);
}

export async function removeOldWorkerPages(db: Knex): Promise<void> {
  await runStatement(db, REMOVE_OLD_PAGES, [new Date(nowMs() - KEPT_FOR_MS)]);
}
