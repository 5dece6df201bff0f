import type { CarryOutDeps } from '../shared/services/payments/carry-out.js';
import type { WorkerDeps } from './deps.js';

export function carryOutDeps({ db, logger, config, ringDeliveries, ringDecided }: WorkerDeps): CarryOutDeps {
  return { db, logger, baseUrl: config.baseUrl, ringDeliveries, ringDecided };
}
