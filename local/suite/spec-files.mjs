import { readdirSync } from 'node:fs';
import path from 'node:path';

/**
 * Long stories start first, so that no process runs one alone at the end. Stories that keep the processor busy stand between
 * stories that mostly wait, so that mocha's processes neither compete nor wait all at once.
 */
const FIRST = [
  'test/flows/lab/chaos.spec.ts',
  'test/flows/facilitators/facilitators-chaos.spec.ts',
  'test/flows/lab/rehearsal.spec.ts',
  'test/unit/payment-policy/explored.spec.ts',
  'test/flows/postgres/connection-shares.spec.ts',
  'test/unit/payment-policy/witnesses.spec.ts',
  'test/flows/processes/stopped-worker.spec.ts',
  'test/unit/chains/soundness.spec.ts',
  'test/api/fuzz.spec.ts',
  'test/flows/sandbox/sandbox-payments.spec.ts',
  'test/flows/sandbox/fresh-clone.spec.ts',
  'test/flows/facilitators/facilitator-limits.spec.ts',
  'test/flows/merchants/heavy-lists.spec.ts',
  'test/flows/payments/crowded-endpoint.spec.ts',
  'test/unit/chains/limited-endpoint.spec.ts',
  'test/flows/sandbox/examples.spec.ts',
  'test/page/every-language.spec.ts',
  'test/flows/postgres/lost-commits.spec.ts',
  'test/flows/payments/random-payments.spec.ts',
  'test/flows/merchants/limits-at-once.spec.ts',
  'test/flows/facilitators/facilitator-connections.spec.ts',
  'test/api/heavy-lists.spec.ts',
  'test/flows/redis/lost-queue.spec.ts',
  'test/flows/reconcile/reconcile-endpoints.spec.ts',
  'test/page/failure-texts.spec.ts',
  'test/workers/expire-sessions-without-queue.spec.ts',
  'test/flows/reconcile/reconcile.spec.ts',
  'test/dashboard/screens.spec.ts',
  'test/flows/link/link-refused-when-used.spec.ts',
  'test/page/every-state.spec.ts',
  'test/flows/payments/forgotten-payments.spec.ts',
  'test/flows/redis/redis-cluster.spec.ts',
  'test/flows/webhooks/webhooks-accounts.spec.ts',
  'test/page/changes-live.spec.ts',
  'test/deploy/image.spec.ts',
  'test/flows/processes/killed-processes.spec.ts',
  'test/db/installation-watch.spec.ts',
  'test/flows/processes/set-clocks.spec.ts',
  'test/unit/payment-policy/mutants-found.spec.ts',
  'test/flows/webhooks/webhooks-isolation.spec.ts',
  'test/page/missed-changes.spec.ts',
  'test/local/listen.spec.ts',
  'test/page/finds-the-balance.spec.ts',
  'test/flows/processes/traces.spec.ts',
  'test/flows/payments/explored-payments.spec.ts',
  'test/flows/redis/queue-unavailable.spec.ts',
  'test/local/embedded-postgres-lifetime.spec.ts',
  'test/flows/redis/shared-redis.spec.ts',
  'test/local/embedded-postgres.spec.ts',
  'test/flows/processes/stopped-web.spec.ts',
  'test/unit/payment-policy/rows.spec.ts',
  'test/api/slow-clients.spec.ts',
  'test/local/ensure-ready.spec.ts',
  'test/flows/link/link-settle-unclear.spec.ts',
  'test/page/lost-payment.spec.ts',
  'test/workers/webhook-sender.spec.ts',
  'test/workers/expire-sessions.spec.ts',
  'test/workers/open-sender-thread.spec.ts',
];

/** @param {string} root */
export function findSpecs(root) {
  const folder = path.join(root, 'test');
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.spec.ts'))
    .map((file) => `test/${file.split(path.sep).join('/')}`);
}

/**
 * The specs that `npm run check` leaves to `npm test`.
 * @param {string} file
 */
export const isLong = (file) => FIRST.includes(file);

/**
 * The long stories first, then by name.
 * @param {string[]} files
 */
export function longestFirst(files) {
  const first = FIRST.filter((file) => files.includes(file));
  return [...first, ...files.filter((file) => !first.includes(file)).sort()];
}
