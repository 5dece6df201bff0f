import type { VerdictDeps } from '../shared/services/verdicts.js';
import type { WorkerDeps } from './deps.js';

export function verdictDeps({ db, logger, config }: WorkerDeps): VerdictDeps {
  return { db, logger, baseUrl: config.baseUrl };
}
