import type { JobName } from '../../shared/jobs/jobs.js';
import type { Closable } from '../../shared/process/shutdown.js';
import { waitAtMost } from '../../shared/process/timeout.js';
import { findUnserved, leaveServed } from '../../shared/upkeep/served-queues.js';
import type { WorkerDeps } from '../deps/deps.js';
import { regularly, soon } from './regularly.js';

interface Watched extends Pick<WorkerDeps, 'db' | 'logger'> {
  config: Pick<WorkerDeps['config'], 'workerQueues'>;
  metrics: Pick<WorkerDeps['metrics'], 'worker'>;
}

/** `graceMs`: the other workers of a release start within this time. */
const TIMES = { everyMs: 15_000, graceMs: 60_000 };
const LEAVE_TIMEOUT_MS = 500;

/** Logs a line for each queue that no worker serves, as when WORKER_QUEUES splits them and one is forgotten. */
export function watchQueues({ db, logger, config, metrics }: Watched, times = TIMES): Closable {
  const self = { worker: metrics.worker, queues: config.workerQueues };
  const startedAt = performance.now();
  const missing = new Set<JobName>();

  async function check(stopped: AbortSignal): Promise<void> {
    // Postgres is unavailable, which is reported elsewhere; the next check asks again.
    const unserved = await findUnserved(db, self).catch(() => undefined);
    if (unserved !== undefined && !stopped.aborted) report(unserved);
  }

  function report(unserved: readonly JobName[]): void {
    for (const queue of missing) {
      if (unserved.includes(queue)) continue;
      missing.delete(queue);
      logger.info({ event: 'queue.served', queue });
    }
    if (performance.now() - startedAt < times.graceMs) return;
    for (const queue of unserved) {
      if (missing.has(queue)) continue;
      missing.add(queue);
      logger.warn({
        event: 'queue.unserved',
        queue,
        hint: `No worker serves ${queue}: add it to the WORKER_QUEUES of a worker, or unset that variable.`,
      });
    }
  }

  const checks = regularly(check, () => times.everyMs, soon());
  return {
    async close() {
      await checks.close();
      await waitAtMost(LEAVE_TIMEOUT_MS, leaveServed(db, self.worker)).catch(() => undefined); // The rows expire.
    },
  };
}
