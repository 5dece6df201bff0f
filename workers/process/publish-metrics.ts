import { withJitter } from '../../shared/process/pause.js';
import type { Closable } from '../../shared/process/shutdown.js';
import { writeWorkerPage } from '../../shared/upkeep/worker-pages.js';
import type { WorkerDeps } from '../deps/deps.js';
import type { WorkerMetrics } from '../deps/worker-metrics.js';
import { openFailureLog } from './failure-log.js';
import { regularly, soon } from './regularly.js';

interface Publishing extends Pick<WorkerDeps, 'db' | 'logger'> {
  metrics: Pick<WorkerMetrics, 'worker' | 'own'>;
}

/** The page is stored at least twice between two scrapes. */
const INTERVAL_MS = 10_000;

/**
 * Stores the metrics page of a worker without a metrics port at intervals, and web processes serve it with their own. It is
 * stored in Postgres, since Redis is optional.
 */
export function publishMetrics({ db, logger, metrics }: Publishing): Closable {
  const failures = openFailureLog(logger, 'metrics.not_published', 'warn');

  async function write(): Promise<void> {
    try {
      await writeWorkerPage(db, metrics.worker, await metrics.own());
      failures.succeeded();
    } catch (error) {
      failures.failed(error);
    }
  }

  const writes = regularly(write, () => withJitter(INTERVAL_MS, 0.25), soon());
  return {
    async close() {
      await writes.close();
      // Includes the last counts.
      await write();
    },
  };
}
