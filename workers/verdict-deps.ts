import type { VerdictDeps } from '../shared/services/payments/write-verdict.js';
import type { WorkerDeps } from './deps.js';

export function verdictDeps({ db, logger, config, ringDeliveries }: WorkerDeps): VerdictDeps {
  return { db, logger, baseUrl: config.baseUrl, ringDeliveries };
}
