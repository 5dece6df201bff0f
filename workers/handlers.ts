import type { JobName, JobPayloads } from '../shared/queues/jobs.js';
import type { WorkerDeps } from './deps.js';
import { expireSessions } from './expire-sessions.js';
import type { Outcome } from './outcome.js';

export type Handlers = { [N in JobName]: (payload: JobPayloads[N]) => Promise<Outcome> };

/** Every job has its handler; a missing one does not compile. */
export function createHandlers(deps: WorkerDeps): Handlers {
  return {
    'expire-sessions': () => expireSessions(deps),
  };
}
