import type { JobName, JobPayloads } from '../shared/domain/jobs.js';
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

/** Waits for each, also when one fails: their job must not end while others are at it. */
async function allOf(works: readonly Promise<unknown>[]): Promise<void> {
  const ended = await Promise.allSettled(works);
  const failed = ended.find((work) => work.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}
