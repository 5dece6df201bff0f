import { postgresSetBacks } from '../../shared/process/clock.js';
import type { Closable } from '../../shared/process/shutdown.js';
import { repairDueTimes } from '../../shared/webhooks/repair-due-times.js';
import type { WorkerDeps } from '../deps/deps.js';
import { openFailureLog } from './failure-log.js';
import { regularly } from './regularly.js';

const CHECK_MS = 1000;
/**
 * The pauses between the runs after Postgres' clock was set back. Another process may notice it seconds later, or be frozen
 * meanwhile, and until then writes due times that lie too far ahead.
 */
const PAUSES_MS = [5000, 30_000, 300_000];

/** Makes deliveries due whose due time was written before Postgres' clock was set back, also while no worker ran. */
export function repairDueTimesRegularly(
  { db, logger, config }: Pick<WorkerDeps, 'db' | 'logger' | 'config'>,
  pausesMs: readonly number[] = PAUSES_MS,
): Closable {
  if (!config.workerQueues.includes('deliver-webhook')) return { close: async () => undefined };
  const failures = openFailureLog(logger, 'sweep.failed');
  let setBacks = -1;
  let runs = 0;
  let nextAtMs = 0;
  const check = async (): Promise<void> => {
    const seen = postgresSetBacks();
    if (seen !== setBacks) {
      setBacks = seen;
      runs = 0;
      nextAtMs = 0;
    }
    if (performance.now() < nextAtMs) return;
    const pauseMs = pausesMs[Math.min(runs, pausesMs.length - 1)] ?? 0;
    runs += 1;
    await repairDueTimes(db).then(failures.succeeded, failures.failed);
    nextAtMs = performance.now() + pauseMs;
  };
  return regularly(check, () => CHECK_MS * Math.random());
}
