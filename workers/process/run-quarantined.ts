import type { Closable } from '../../shared/process/shutdown.js';
import { stagesServedBy } from '../../shared/settlement/payment-job.js';
import { type DuePayment, listDueQuarantined } from '../../shared/settlement/take-work.js';
import { listQuarantinedDeliveries } from '../../shared/webhooks/find-due.js';
import type { WorkerDeps } from '../deps/deps.js';
import type { Deliverer } from '../jobs/deliver-webhook.js';
import { openFailureLog } from './failure-log.js';
import type { Handlers } from './handlers.js';

/**
 * Runs quarantined rows, on which workers have crashed, one at a time per kind and without the queue. The row with the
 * fewest crashes comes first. A row is never given up, but its pauses grow.
 */
interface QuarantinedWork extends Closable {
  /** Starts a run over due rows unless one is in flight. */
  start(): void;
}

interface QuarantinedRow {
  work: string;
  id: string;
  crashes: number;
  run(): Promise<unknown>;
}

const BATCH_ROWS = 20;

export function quarantinedPayments(deps: WorkerDeps, handlers: Handlers): QuarantinedWork {
  const stages = stagesServedBy(deps.config.workerQueues);
  const rowOf = ({ id, stage, crashes }: DuePayment): QuarantinedRow => {
    const work = stage === 'settle' ? 'settle-payment' : 'confirm-payment';
    return { work, id, crashes, run: () => handlers[work]({ paymentId: id }) };
  };
  return quarantinedWork(deps, async () =>
    (await listDueQuarantined(deps.db, stages, BATCH_ROWS)).map(rowOf),
  );
}

export function quarantinedDeliveries(deps: WorkerDeps, deliverer: Deliverer): QuarantinedWork {
  const work = 'deliver-webhook';
  return quarantinedWork(deps, async () => {
    if (!deps.config.workerQueues.includes(work)) return [];
    const due = await listQuarantinedDeliveries(deps.db, BATCH_ROWS);
    return due.map(({ id, crashes }) => ({
      work,
      id,
      crashes,
      run: () => deliverer.deliverQuarantined(id),
    }));
  });
}

function quarantinedWork({ logger }: WorkerDeps, list: () => Promise<QuarantinedRow[]>): QuarantinedWork {
  const failures = openFailureLog(logger, 'sweep.failed');
  let running: Promise<void> | undefined;
  let closed = false;

  async function runOne({ work, id, crashes, run }: QuarantinedRow): Promise<void> {
    logger.error({ event: 'work.crashed_on', work, deaths: crashes, ids: [id] });
    await run();
  }

  async function runAll(): Promise<void> {
    for (const row of await list()) {
      if (closed) return;
      await runOne(row).catch((error: unknown) => logger.error({ event: 'job.failed', err: error }));
    }
  }

  return {
    start() {
      running ??= runAll()
        .then(failures.succeeded, failures.failed)
        .finally(() => {
          running = undefined;
        });
    },
    async close() {
      closed = true;
      await running;
    },
  };
}
