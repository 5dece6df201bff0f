import type { JobName, JobPayloads } from '../shared/queues/jobs.js';
import { confirmPayment } from './confirm-payment.js';
import type { Deliverer } from './deliver-webhook.js';
import type { WorkerDeps } from './deps.js';
import { expireSessions } from './expire-sessions.js';
import { done, type Outcome } from './outcome.js';
import { settlePayment } from './settle-payment.js';

export type Handlers = { [N in JobName]: (payload: JobPayloads[N]) => Promise<Outcome> };

/** Every job has its handler; a missing one does not compile. */
export function createHandlers(deps: WorkerDeps, deliverer: Deliverer): Handlers {
  return {
    'settle-payment': (payload) => settlePayment(deps, payload),
    'confirm-payment': (payload) => confirmPayment(deps, payload),
    'expire-sessions': () => expireSessions(deps),
    'deliver-webhook': async ({ endpointId }) => {
      await deliverer.deliverTo(endpointId);
      return done;
    },
  };
}
