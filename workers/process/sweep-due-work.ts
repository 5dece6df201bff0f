import { type JobName, LATE_MS } from '../../shared/jobs/jobs.js';
import { openConcurrency, UNLIMITED } from '../../shared/limits/concurrency.js';
import { nowMs } from '../../shared/process/clock.js';
import { withJitter } from '../../shared/process/pause.js';
import type { Closable } from '../../shared/process/shutdown.js';
import { withTimeout } from '../../shared/process/timeout.js';
import type { JobRequest } from '../../shared/queues/enqueue.js';
import type { StoreStateLog } from '../../shared/queues/store-state.js';
import { findOverdueSessions } from '../../shared/settlement/expire-overdue.js';
import { paymentJob, stagesServedBy } from '../../shared/settlement/payment-job.js';
import { listDuePayments } from '../../shared/settlement/take-work.js';
import { findDueAccounts } from '../../shared/webhooks/find-due.js';
import { sweepEndpoints } from '../../shared/webhooks/pending-deliveries.js';
import type { WorkerDeps } from '../deps/deps.js';
import type { Deliverer } from '../jobs/deliver-webhook.js';
import type { Handlers } from './handlers.js';
import { regularly } from './regularly.js';
import { quarantinedDeliveries, quarantinedPayments } from './run-quarantined.js';

const INTERVAL_MS = 1000;
/** The first sweep comes soon, for rows that became due while no worker ran. */
const FIRST_WITHIN_MS = 250;
const BATCH = 500;
/** For the check of a queue store that was unavailable. */
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
  const sweeps = findersOf(deps).map((find) =>
    aboutEverySecond(() => sweep(deps, { find, directRunner, storeState })),
  );
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
  return regularly(work, pauseMs, FIRST_WITHIN_MS * Math.random());
}

type AnyJob = { [N in JobName]: JobRequest<N> }[JobName];

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
}

async function sweep(deps: WorkerDeps, { find, directRunner, storeState }: Sweep): Promise<void> {
  try {
    const { due, late } = await find();
    directRunner.run([...late, ...(await enqueueAll(deps, due, storeState))]);
  } catch (error) {
    deps.logger.error({ event: 'sweep.failed', err: error });
  }
}

/** Finders of due work, one for each kind that this process serves. */
function findersOf({ db, config: { workerQueues: queues } }: WorkerDeps): FindDueJobs[] {
  const second = (): number => Math.floor(nowMs() / INTERVAL_MS);
  const findPayments = async (): Promise<DueJobs> => {
    const payments = await listDuePayments(db, stagesServedBy(queues), BATCH);
    const due = payments.map((payment) => paymentJob(payment));
    const late = due.filter((_, index) => nowMs() - (payments[index]?.dueAt.getTime() ?? nowMs()) > LATE_MS);
    return { due, late };
  };
  const findSessions = async (): Promise<DueJobs> => {
    const job: AnyJob = { name: 'expire-sessions', payload: {}, id: `expire-sessions-${second()}` };
    const overdue = await findOverdueSessions(db);
    return { due: overdue === 'none' ? [] : [job], late: overdue === 'late' ? [job] : [] };
  };
  let lastEndpoint = '';
  const findDeliveries = async (): Promise<DueJobs> => {
    await sweepEndpoints(db);
    const found = await findDueAccounts(db, lastEndpoint, ENDPOINTS_PER_SWEEP);
    lastEndpoint = found.last;
    const jobOf = (accountId: string): AnyJob => ({
      name: 'deliver-webhook',
      payload: { accountId },
      id: `${accountId}-sweep-${second()}`,
    });
    return { due: found.due.map(jobOf), late: found.late.map(jobOf) };
  };
  return [
    findPayments,
    ...(queues.includes('expire-sessions') ? [findSessions] : []),
    ...(queues.includes('deliver-webhook') ? [findDeliveries] : []),
  ];
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

interface DirectRunnerDeps extends Pick<WorkerDeps, 'logger'> {
  config: Pick<WorkerDeps['config'], 'workerConcurrency'>;
}

/** Runs jobs without the queue. A handler that hangs blocks one slot, not the sweep. */
interface DirectRunner {
  run(jobs: readonly AnyJob[]): void;
  finish(): Promise<void>;
}

export function createDirectRunner({ config, logger }: DirectRunnerDeps, handlers: Handlers): DirectRunner {
  const running = new Map<string, Promise<void>>();
  const slots = openConcurrency({
    total: Number.POSITIVE_INFINITY,
    perHolder: [config.workerConcurrency],
  });
  return {
    run(jobs) {
      for (const job of jobs) {
        const key = workOf(job);
        if (running.has(key)) continue;
        // Deliveries have slots of their own. The next sweep finds a job without a free slot again.
        const limiter = job.name === 'deliver-webhook' ? UNLIMITED : slots;
        const release = limiter.tryTake(job.name);
        if (release === undefined) continue;
        const work = runOne(handlers, job)
          .catch((error: unknown) => {
            logger.error({ event: 'job.failed', queue: job.name, err: error });
          })
          .finally(() => {
            running.delete(key);
            release();
          });
        running.set(key, work);
      }
    },
    async finish() {
      await Promise.all(running.values());
    },
  };
}

/** A name of the work that each sweep gives it, though the ids of its jobs differ from second to second. */
function workOf(job: AnyJob): string {
  switch (job.name) {
    case 'expire-sessions':
      return job.name;
    case 'deliver-webhook':
      return `${job.name}:${job.payload.accountId}`;
    default:
      return `${job.name}:${job.id}`;
  }
}

async function runOne<N extends JobName>(handlers: Handlers, job: JobRequest<N>): Promise<void> {
  const handle: Handlers[N] = handlers[job.name];
  await handle(job.payload);
}
