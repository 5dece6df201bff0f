import type { JobName, JobPayloads } from '../../shared/jobs/jobs.js';
import type { WorkerDeps } from '../deps/deps.js';
import { done, type Outcome } from '../deps/outcome.js';
import { confirmPayment } from '../jobs/confirm-payment.js';
import type { Deliverer } from '../jobs/deliver-webhook.js';
import { expireSessions } from '../jobs/expire-sessions.js';
import { settlePayment } from '../jobs/settle-payment.js';

export type Handlers = { [N in JobName]: (payload: JobPayloads[N]) => Promise<Outcome> };

/** The type of the result makes a missing handler a compile error. */
export function createHandlers(deps: WorkerDeps, deliverer: Deliverer): Handlers {
  return {
    'settle-payment': async ({ others = [], ...first }) => {
      await allOf([first, ...others].map((claimed) => settlePayment(deps, claimed)));
      return done;
    },
    'confirm-payment': (payload) => confirmPayment(deps, payload),
    'expire-sessions': () => expireSessions(deps),
    'deliver-webhook': async ({ accountId }) => {
      await deliverer.deliverTo(accountId);
      return done;
    },
  };
}

/** Unlike Promise.all, waits for all when one fails, since the job must not end while its payments are in flight. */
async function allOf(works: readonly Promise<unknown>[]): Promise<void> {
  const ended = await Promise.allSettled(works);
  const failed = ended.find((work) => work.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}
