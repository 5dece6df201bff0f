import type { Closable } from '../../shared/process/shutdown.js';
import { stagesServedBy } from '../../shared/settlement/payment-job.js';
import { type DuePayment, listDueQuarantined } from '../../shared/settlement/take-work.js';
import { listQuarantinedDeliveries } from '../../shared/webhooks/take-quarantined.js';
import type { WorkerDeps } from '../deps/deps.js';
import type { Deliverer } from '../jobs/deliver-webhook.js';
import type { Handlers } from './handlers.js';

/**
 * Rows that workers have died with, past the queue: of each kind one at a time, and beginning with the one that fewest
 * died with. No number of deaths decides anything of them; they only come later each time.
 */
export interface QuarantinedWork extends Closable {
  /** Looks for them unless it is still at some. */
  look(): void;
}

interface ApartRow {
  work: string;
  id: string;
  deaths: number;
  doIt(): Promise<unknown>;
}

const MOST = 20;

export function quarantinedPayments(deps: WorkerDeps, handlers: Handlers): QuarantinedWork {
  const stages = stagesServedBy(deps.config.workerQueues);
  const apart = ({ id, stage, lostTakes: deaths }: DuePayment): ApartRow => {
    const work = stage === 'settle' ? 'settle-payment' : 'confirm-payment';
    return { work, id, deaths, doIt: () => handlers[work]({ paymentId: id }) };
  };
  return quarantinedWork(deps, async () => (await listDueQuarantined(deps.db, stages, MOST)).map(apart));
}

export function quarantinedDeliveries(deps: WorkerDeps, deliverer: Deliverer): QuarantinedWork {
  const work = 'deliver-webhook';
  return quarantinedWork(deps, async () => {
    if (!deps.config.workerQueues.includes(work)) return [];
    const due = await listQuarantinedDeliveries(deps.db, MOST);
    return due.map(({ id, deaths }) => ({ work, id, deaths, doIt: () => deliverer.deliverQuarantined(id) }));
  });
}

function quarantinedWork({ logger }: WorkerDeps, list: () => Promise<ApartRow[]>): QuarantinedWork {
  let working: Promise<void> | undefined;
  let closed = false;

  async function workOne({ work, id, deaths, doIt }: ApartRow): Promise<void> {
    logger.error({ event: 'work.crashed_on', work, deaths, ids: [id] });
    await doIt();
  }

  async function workAll(): Promise<void> {
    for (const row of await list()) {
      if (closed) return;
      await workOne(row).catch((error: unknown) => logger.error({ event: 'job.failed', err: error }));
    }
  }

  return {
    look() {
      working ??= workAll()
        .catch((error: unknown) => logger.error({ event: 'sweep.failed', err: error }))
        .finally(() => {
          working = undefined;
        });
    },
    async close() {
      closed = true;
      await working;
    },
  };
}
