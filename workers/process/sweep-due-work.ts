import type { JobName } from '../../shared/jobs/jobs.js';
import { openConcurrency, UNLIMITED } from '../../shared/limits/concurrency.js';
import { nowMs } from '../../shared/process/clock.js';
import type { Closable } from '../../shared/process/shutdown.js';
import { within } from '../../shared/process/within.js';
import type { JobRequest } from '../../shared/queues/enqueue.js';
import type { StoreStateLog } from '../../shared/queues/store-state.js';
import { hasOverdueSessions } from '../../shared/settlement/expire-due.js';
import { paymentJob, stagesServedBy } from '../../shared/settlement/payment-job.js';
import { listDuePayments } from '../../shared/settlement/take-work.js';
import { findDueAccounts } from '../../shared/webhooks/find-due.js';
import type { WorkerDeps } from '../deps/deps.js';
import type { Deliverer } from '../jobs/deliver-webhook.js';
import type { Handlers } from './handlers.js';
import { quarantinedDeliveries, quarantinedPayments } from './run-quarantined.js';

/**
 * Rings for rows whose time has passed and whose job was never rung, or was lost. A plain timer in every worker
 * process, never itself a job: an emptied Redis takes schedules with it. When the queue store does not answer, or has
 * taken a payment's job and nobody gets it from there, the handlers are called directly, as many at once as a worker would.
 */
const INTERVAL_MS = 1000;
/** What became due while nobody was there has waited long enough: the first look comes soon. */
const FIRST_WITHIN_MS = 250;
const BATCH = 500;
/** A payment that has been due for so long is not waited for any more: the queue store may have frozen. */
const LATE_MS = 15_000;
/** A store that hangs holds up no sweep for longer. */
const CHECK_WITHIN_MS = 5000;
/** Endpoints looked at in one round, due or not: more than two accounts can have. */
const ENDPOINTS = 5000;

export function sweepDueWork(
  deps: WorkerDeps,
  handlers: Handlers,
  deliverer: Deliverer,
  news: StoreStateLog,
): Closable {
  const standIn = createStandIn(deps, handlers);
  const apart = [quarantinedPayments(deps, handlers), quarantinedDeliveries(deps, deliverer)];
  const findDueJobs = createFinder(deps);
  let timer: NodeJS.Timeout;
  let sweeping: Promise<void> = Promise.resolve();
  let closed = false;
  // Jitter keeps many workers from asking at the same instant.
  const schedule = (ms: number): void => {
    timer = setTimeout(() => {
      sweeping = sweep(deps, { findDueJobs, standIn, news }).finally(() => {
        if (closed) return;
        for (const kind of apart) kind.look();
        schedule(INTERVAL_MS * (0.75 + Math.random() / 2));
      });
    }, ms);
  };
  schedule(FIRST_WITHIN_MS * Math.random());
  return {
    async close() {
      closed = true;
      clearTimeout(timer);
      await sweeping;
      await Promise.all([standIn.finish(), ...apart.map((kind) => kind.close())]);
    },
  };
}

interface Sweep {
  findDueJobs(): Promise<DueJobs>;
  standIn: StandIn;
  news: StoreStateLog;
}

async function sweep(deps: WorkerDeps, { findDueJobs, standIn, news }: Sweep): Promise<void> {
  try {
    const { due, late } = await findDueJobs();
    standIn.run([...late, ...(await ringAll(deps, due, news))]);
  } catch (error) {
    deps.logger.error({ event: 'sweep.failed', err: error });
  }
}

type AnyJob = { [N in JobName]: JobRequest<N> }[JobName];

interface DueJobs {
  due: AnyJob[];
  /** Those of them that nobody has done for long. */
  late: AnyJob[];
}

/** For the queues that this process serves. */
function createFinder({ db, config: { workerQueues: queues } }: WorkerDeps): () => Promise<DueJobs> {
  let lastEndpoint = '';
  const findAccounts = async (): Promise<string[]> => {
    const { due, last } = await findDueAccounts(db, lastEndpoint, ENDPOINTS);
    lastEndpoint = last;
    return due;
  };
  return async () => {
    const [payments, overdue, accounts] = await Promise.all([
      listDuePayments(db, stagesServedBy(queues), BATCH),
      queues.includes('expire-sessions') && hasOverdueSessions(db),
      queues.includes('deliver-webhook') ? findAccounts() : [],
    ]);
    const second = Math.floor(nowMs() / INTERVAL_MS);
    const due: AnyJob[] = payments.map((payment) => paymentJob(payment));
    const late = due.filter((_, index) => nowMs() - (payments[index]?.dueAt.getTime() ?? nowMs()) > LATE_MS);
    if (overdue) due.push({ name: 'expire-sessions', payload: {}, id: `expire-sessions-${second}` });
    for (const accountId of accounts) {
      due.push({ name: 'deliver-webhook', payload: { accountId }, id: `${accountId}-sweep-${second}` });
    }
    return { due, late };
  };
}

/** Those that the queue store did not take. */
async function ringAll(
  { queues }: WorkerDeps,
  jobs: readonly AnyJob[],
  news: StoreStateLog,
): Promise<AnyJob[]> {
  const rings = jobs.map((job) => queues.enqueue(job));
  // When there is nothing to ring for, it is still to be known whether one could.
  if (jobs.length === 0 && news.isAway('sweep')) rings.push(within(CHECK_WITHIN_MS, queues.check()));
  const rung = await Promise.allSettled(rings);
  const failed = rung.find((result) => result.status === 'rejected');
  if (failed !== undefined) news.away('sweep', failed.reason);
  else if (rings.length > 0) news.back('sweep');
  return jobs.filter((_, index) => rung[index]?.status === 'rejected');
}

interface StandInDeps extends Pick<WorkerDeps, 'logger'> {
  config: Pick<WorkerDeps['config'], 'workerConcurrency'>;
}

/** Runs the jobs that the queue store did not take. A job that hangs occupies one slot, not the sweep. */
interface StandIn {
  run(jobs: readonly AnyJob[]): void;
  finish(): Promise<void>;
}

export function createStandIn({ config, logger }: StandInDeps, handlers: Handlers): StandIn {
  const running = new Map<string, Promise<void>>();
  const slots = openConcurrency({
    total: Number.POSITIVE_INFINITY,
    perHolder: [config.workerConcurrency],
  });
  return {
    run(jobs) {
      for (const job of jobs) {
        const key = `${job.name}:${job.id}`;
        if (running.has(key)) continue;
        // Deliveries have slots of their own. A job without a slot is found again by the next sweep.
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

async function runOne(handlers: Handlers, job: AnyJob): Promise<void> {
  switch (job.name) {
    case 'settle-payment':
      await handlers[job.name](job.payload);
      return;
    case 'confirm-payment':
      await handlers[job.name](job.payload);
      return;
    case 'expire-sessions':
      await handlers[job.name](job.payload);
      return;
    case 'deliver-webhook':
      await handlers[job.name](job.payload);
      return;
  }
}
