import type { JobName, JobPayloads } from '../../shared/jobs/jobs.js';
import type { WorkerDeps } from '../deps/deps.js';
import { done, type JobOutcome } from '../deps/job-outcome.js';
import { confirmPayment } from '../jobs/confirm-payment.js';
import type { Deliverer } from '../jobs/deliver-webhook.js';
import { expireSessions } from '../jobs/expire-sessions.js';
import { settlePayment } from '../jobs/settle-payment.js';
import type { RunCall } from '../settlement/outside-calls.js';

export type Handlers = { [N in JobName]: (payload: JobPayloads[N]) => Promise<JobOutcome> };

/** The type of the result makes a missing handler a compile error. */
export function createHandlers(deps: WorkerDeps, deliverer: Deliverer): Handlers {
  return {
    'settle-payment': async ({ others = [], ...first }) => {
      const settling = [first, ...others].map(
        (claimed) => (runCall: RunCall) => settlePayment(deps, claimed, runCall),
      );
      await deps.settleCalls.runJob(settling);
      return done;
    },
    async 'confirm-payment'(payload) {
      const check = (runCall: RunCall): Promise<JobOutcome> => confirmPayment(deps, payload, runCall);
      // After a slow check its row says when the next one is due.
      const [outcome = done] = await deps.chainChecks.runJob([check]);
      return outcome;
    },
    'expire-sessions': () => expireSessions(deps),
    'deliver-webhook': async ({ accountId }) => {
      await deliverer.deliverTo(accountId);
      return done;
    },
  };
}
