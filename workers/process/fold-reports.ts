import { withJitter } from '../../shared/process/pause.js';
import type { Closable } from '../../shared/process/shutdown.js';
import { foldEntries } from '../../shared/reports/fold.js';
import type { WorkerDeps } from '../deps/deps.js';
import { openFailureLog } from './failure-log.js';
import { regularly } from './regularly.js';

/** Reports sum entries that are not folded, too, so a late fold makes them slower and not wrong. */
const INTERVAL_MS = 5000;
const BATCH_ENTRIES = 1000;

/** Every worker folds the entries of reports, one at a time. */
export function foldReportsRegularly(
  { db, logger }: Pick<WorkerDeps, 'db' | 'logger'>,
  intervalMs = INTERVAL_MS,
): Closable {
  const failures = openFailureLog(logger, 'reports.fold_failed');
  const fold = async (stopped: AbortSignal): Promise<void> => {
    try {
      while (!stopped.aborted && (await foldEntries(db, BATCH_ENTRIES)) === BATCH_ENTRIES);
      failures.succeeded();
    } catch (error) {
      failures.failed(error);
    }
  };
  return regularly(fold, () => withJitter(intervalMs, 0.5));
}
