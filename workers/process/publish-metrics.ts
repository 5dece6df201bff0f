import type { Closable } from '../../shared/process/shutdown.js';
import { writeWorkerPage } from '../../shared/upkeep/worker-pages.js';
import type { WorkerDeps } from '../deps/deps.js';
import type { WorkerMetrics } from '../deps/worker-metrics.js';

/** What publishing needs of a worker. */
interface Publishing extends Pick<WorkerDeps, 'db' | 'logger'> {
  metrics: Pick<WorkerMetrics, 'worker' | 'own'>;
}

/** Twice and more between two scrapes. */
const EVERY_MS = 10_000;

/**
 * Where a platform gives workers no port nobody can ask them: they write their metrics page down again and again, and web
 * shows it with its own. In Postgres, which every worker and every web process has, with Redis and without.
 */
export function publishMetrics({ db, logger, metrics }: Publishing): Closable {
  let closed = false;
  let isMissing = false;
  let timer: NodeJS.Timeout | undefined;
  let writing = Promise.resolve();

  async function write(): Promise<void> {
    try {
      await writeWorkerPage(db, metrics.worker, await metrics.own());
      isMissing = false;
    } catch (error) {
      if (!isMissing) logger.warn({ event: 'metrics.not_published', err: error });
      isMissing = true;
    }
  }

  function writeRegularly(): void {
    writing = write().finally(() => {
      if (!closed) timer = setTimeout(writeRegularly, EVERY_MS * (0.75 + Math.random() / 2));
    });
  }

  writeRegularly();
  return {
    async close() {
      closed = true;
      clearTimeout(timer);
      await writing;
      // With what was counted last.
      await write();
    },
  };
}
