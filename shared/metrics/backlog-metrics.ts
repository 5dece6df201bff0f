import { Gauge, Registry } from 'prom-client';
import type { Config } from '../config/config.js';
import type { Knex } from '../db/knex.js';
import type { Replica } from '../db/replica.js';
import type { Logger } from '../process/logger.js';
import { withTimeout } from '../process/timeout.js';
import type { Queues } from '../queues/enqueue.js';
import { type Backlog, readBacklog } from '../upkeep/backlog.js';

/**
 * The backlog in Postgres and in the queues, read for each scrape and the same on every process's page. Metrics of an
 * unavailable store are left out.
 */
export interface BacklogSources {
  db: Knex;
  replica?: Replica | undefined;
  queues: Queues;
  logger: Logger;
  config?: Pick<Config, 'databaseDiskBytes'>;
}

/** Prometheus' scrape timeout is 10 s, and this page matters most when a store is slow or the pool is exhausted. */
export const READ_TIMEOUT_MS = 3000;

const BACKLOG_GAUGES: Record<keyof Backlog, { name: string; help: string }> = {
  paymentsProcessing: {
    name: 'checkout_payments_processing',
    help: 'Payments without an outcome yet.',
  },
  oldestPaymentSeconds: {
    name: 'checkout_payments_processing_oldest_seconds',
    help: 'Age of the oldest payment without an outcome.',
  },
  deliveriesDue: { name: 'checkout_deliveries_due', help: 'Webhook deliveries that are due.' },
  oldestDeliverySeconds: {
    name: 'checkout_deliveries_due_oldest_seconds',
    help: 'How long the oldest due webhook delivery has been due.',
  },
  sessionsOverdue: {
    name: 'checkout_sessions_overdue',
    help: 'Open sessions past their expiry that no worker has expired yet.',
  },
  quarantinedWork: {
    name: 'checkout_work_apart',
    help: 'Payments, sessions and deliveries in quarantine, since workers crashed on them.',
  },
  unreadableEndpoints: {
    name: 'checkout_webhook_endpoints_unreadable',
    help: 'Webhook endpoints whose deliveries are held, because ENCRYPTION_KEY lacks the key of their secret.',
  },
  databaseBytes: {
    name: 'checkout_database_bytes',
    help: "Space of the databases in Postgres' tablespace, without the write-ahead log.",
  },
};

export function openBacklogMetrics({ db, replica, queues, logger, config }: BacklogSources): {
  read(): Promise<string>;
} {
  const registry = new Registry();
  const gauge = (name: string, help: string, labelNames: string[] = []): Gauge =>
    new Gauge({ name, help, labelNames, registers: [registry] });
  const backlog = Object.entries(BACKLOG_GAUGES).map(
    ([key, { name, help }]) => [key as keyof Backlog, gauge(name, help)] as const,
  );
  const jobs = gauge('checkout_queue_jobs', 'Jobs per queue and state.', ['queue', 'state']);
  const paused = gauge('checkout_queue_paused', '1 while an operator has paused the queue.', ['queue']);
  const readable = gauge(
    'checkout_store_readable',
    '1 when the store answered for this page, and the queue store took a write; else 0.',
    ['store'],
  );

  if (config?.databaseDiskBytes !== undefined) {
    const disk = gauge(
      'checkout_database_disk_bytes',
      "Size of the disk with Postgres' tables, as configured.",
    );
    disk.set(config.databaseDiskBytes);
  }

  async function ask(store: 'postgres' | 'queue', read: () => Promise<void>): Promise<void> {
    try {
      await withTimeout(READ_TIMEOUT_MS, read());
      readable.set({ store }, 1);
    } catch (error) {
      readable.set({ store }, 0);
      logger.warn({ event: 'metrics.store_unreadable', store, err: error });
    }
  }

  const askPostgres = async (): Promise<void> => {
    for (const [, each] of backlog) each.remove();
    const found = (await replica?.ask(readBacklog))?.found ?? (await readBacklog(db));
    for (const [key, each] of backlog) each.set(found[key]);
  };

  const askQueues = async (): Promise<void> => {
    jobs.reset();
    paused.reset();
    for (const { queue, states, isPaused } of await queues.depths()) {
      for (const [state, count] of Object.entries(states)) jobs.set({ queue, state }, count);
      paused.set({ queue }, isPaused ? 1 : 0);
    }
    // A full store still answers reads.
    await queues.check();
  };

  return {
    async read() {
      if (replica !== undefined)
        readable.set({ store: 'replica' }, replica.shownUntil() === undefined ? 0 : 1);
      await Promise.all([ask('postgres', askPostgres), ask('queue', askQueues)]);
      return await registry.metrics();
    },
  };
}
