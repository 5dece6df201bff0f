import type { JobName } from '../../shared/jobs/jobs.js';
import { openConcurrency, UNLIMITED } from '../../shared/limits/concurrency.js';
import type { JobRequest } from '../../shared/queues/enqueue.js';
import type { WorkerDeps } from '../deps/deps.js';
import type { Handlers } from './handlers.js';

export type AnyJob = { [N in JobName]: JobRequest<N> }[JobName];

interface DirectRunnerDeps extends Pick<WorkerDeps, 'logger'> {
  config: Pick<WorkerDeps['config'], 'workerConcurrency'>;
}

/** Runs jobs without the queue, each work once at a time. A handler that hangs blocks one slot, not the sweep. */
export interface DirectRunner {
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
