import type { Knex } from '../../shared/db/knex.js';
import { type JobName, LATE_MS } from '../../shared/jobs/jobs.js';
import { nowMs } from '../../shared/process/clock.js';
import { withJitter } from '../../shared/process/pause.js';
import type { Closable } from '../../shared/process/shutdown.js';
import { withTimeout } from '../../shared/process/timeout.js';
import type { StoreStateLog } from '../../shared/queues/store-state.js';
import { findOverdueSessions } from '../../shared/settlement/expire-overdue.js';
import { paymentJob, stagesServedBy } from '../../shared/settlement/payment-job.js';
import { type DuePayment, listDuePayments } from '../../shared/settlement/take-work.js';
import { findDueAccounts } from '../../shared/webhooks/find-due.js';
import { sweepEndpoints } from '../../shared/webhooks/pending-deliveries.js';
import type { WorkerDeps } from '../deps/deps.js';
import type { Deliverer } from '../jobs/deliver-webhook.js';
import { type AnyJob, createDirectRunner, type DirectRunner } from './direct-runner.js';
import { type FailureLog, openFailureLog } from './failure-log.js';
import type { Handlers } from './handlers.js';
import { regularly, soon } from './regularly.js';
import { quarantinedDeliveries, quarantinedPayments } from './run-quarantined.js';

const INTERVAL_MS = 1000;
const BATCH = 500;
/** Milliseconds for the check of a queue store that was unavailable. */
const CHECK_TIMEOUT_MS = 5000;
/** Endpoints to examine per sweep, with due deliveries or without: more than two accounts can have. */
const ENDPOINTS_PER_SWEEP = 5000;

/**
 * Enqueues jobs for due rows whose job was never added, or was lost. A plain timer in every worker process, not a
 * scheduled job, which an emptied Redis would lose. When the queue store is unavailable, or work stays due although its job
 * was added, the sweep calls the handlers directly, with the concurrency of a worker.
 */
export function sweepDueWork(
  deps: WorkerDeps,
  handlers: Handlers,
  deliverer: Deliverer,
  storeState: StoreStateLog,
): Closable {
  const directRunner = createDirectRunner(deps, handlers);
  const quarantined = [quarantinedPayments(deps, handlers), quarantinedDeliveries(deps, deliverer)];
  // Each kind of work has its own sweep: payments are found while the statements of deliveries fail, or take long.
  const sweeps = findersOf(deps).map((find) => {
    const failures = openFailureLog(deps.logger, 'sweep.failed');
    return aboutEverySecond(() => sweep(deps, { find, directRunner, storeState, failures }));
  });
  const starts = aboutEverySecond(async () => {
    for (const kind of quarantined) kind.start();
  });
  return {
    async close() {
      await Promise.all([starts, ...sweeps].map((one) => one.close()));
      await Promise.all([directRunner.finish(), ...quarantined.map((kind) => kind.close())]);
    },
  };
}

function aboutEverySecond(work: () => Promise<void>): Closable {
  const pauseMs = (): number => withJitter(INTERVAL_MS, 0.25);
  // Rows may have become due while no worker ran.
  return regularly(work, pauseMs, soon());
}

interface DueJobs {
  due: AnyJob[];
  /** The jobs in `due` whose work is overdue by more than LATE_MS: the queue may be paused, or its store frozen. */
  late: AnyJob[];
}

type FindDueJobs = () => Promise<DueJobs>;

interface Sweep {
  find: FindDueJobs;
  directRunner: DirectRunner;
  storeState: StoreStateLog;
  failures: FailureLog;
}

async function sweep(deps: WorkerDeps, { find, directRunner, storeState, failures }: Sweep): Promise<void> {
  try {
    const { due, late } = await find();
    directRunner.run([...late, ...(await enqueueAll(deps, due, storeState))]);
    failures.succeeded();
  } catch (error) {
    failures.failed(error);
  }
}

/** Finders of due work, one for each kind that this process serves. */
function findersOf({ db, config: { workerQueues: queues } }: WorkerDeps): FindDueJobs[] {
  return [
    () => findPayments(db, queues),
    ...(queues.includes('expire-sessions') ? [() => findSessions(db)] : []),
    ...(queues.includes('deliver-webhook') ? [deliveryFinder(db)] : []),
  ];
}

async function findPayments(db: Knex, queues: readonly JobName[]): Promise<DueJobs> {
  const payments = await listDuePayments(db, stagesServedBy(queues), BATCH);
  const late = payments.filter(({ dueAt }) => nowMs() - dueAt.getTime() > LATE_MS);
  const jobsOf = (some: readonly DuePayment[]): AnyJob[] => some.map((payment) => paymentJob(payment));
  return { due: jobsOf(payments), late: jobsOf(late) };
}

async function findSessions(db: Knex): Promise<DueJobs> {
  const overdue = await findOverdueSessions(db);
  const job: AnyJob = { name: 'expire-sessions', payload: {}, id: `expire-sessions-${second()}` };
  return { due: overdue === 'none' ? [] : [job], late: overdue === 'late' ? [job] : [] };
}

/** Each sweep goes on behind the endpoint at which the last one ended. */
function deliveryFinder(db: Knex): FindDueJobs {
  let lastEndpoint = '';
  return async () => {
    await sweepEndpoints(db);
    const found = await findDueAccounts(db, lastEndpoint, ENDPOINTS_PER_SWEEP);
    lastEndpoint = found.last;
    return { due: found.due.map(deliveryJob), late: found.late.map(deliveryJob) };
  };
}

function deliveryJob(accountId: string): AnyJob {
  return { name: 'deliver-webhook', payload: { accountId }, id: `${accountId}-sweep-${second()}` };
}

/** Part of a job's id: every process that sweeps in the same second adds the same job. */
function second(): number {
  return Math.floor(nowMs() / INTERVAL_MS);
}

/** Returns the jobs that the queue store did not take. */
async function enqueueAll(
  { queues }: WorkerDeps,
  jobs: readonly AnyJob[],
  storeState: StoreStateLog,
): Promise<AnyJob[]> {
  const additions: Promise<void>[] = jobs.map((job) => queues.enqueue(job));
  // Without jobs to add, a check finds out whether the store is back.
  if (jobs.length === 0 && storeState.isUnavailable('sweep'))
    additions.push(withTimeout(CHECK_TIMEOUT_MS, queues.check()));
  const results = await Promise.allSettled(additions);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) storeState.unavailable('sweep', failed.reason);
  else if (additions.length > 0) storeState.available('sweep');
  return jobs.filter((_, index) => results[index]?.status === 'rejected');
}
