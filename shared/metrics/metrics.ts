import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { poolUse } from '../db/knex.js';
import { clockCorrectionMs } from '../process/clock.js';
import { countLoggedProblems } from '../process/logger.js';
import { VERSION } from '../process/version.js';
import { type BacklogSources, openBacklogMetrics } from './backlog-metrics.js';
import { mergePages } from './merge-pages.js';

/**
 * What both processes tell Prometheus: the process itself (event-loop delay, memory), its pool, its clock and its log, and
 * what is asked for when the page is read.
 */
export type MetricSources = BacklogSources;

export interface MetricsPage {
  /** Where a process registers what it counts itself. */
  registry: Registry;
  /** What is this process' own, without asking anybody. */
  own(): Promise<string>;
  read(): Promise<string>;
}

/** Lines that the alerts wait for. An alarm on what grows does not see what begins with its first event. */
const ALARMING = [
  'database.connection_destroyed',
  'database.statements_not_kept',
  'delivery.given_up',
  'facilitator.refused_setup',
  'facilitator.supported_unknown',
  'facilitator.wrong_about_signature',
  'operators.password_guessed',
  'payment.after_expiry',
  'payment.gone',
  'payment.proof_taken',
  'payment.search_unfinished',
  'payment.surplus',
  'payment.used_unexplained',
  'refund.surplus',
  'webhook_endpoint.disabled',
  'webhook_secret.unreadable',
];

/** `labels` are on whatever is the process' own. */
export function openMetricsPage(sources: MetricSources, labels: Record<string, string> = {}): MetricsPage {
  const registry = ownMetrics(sources);
  registry.setDefaultLabels(labels);
  const asked = openBacklogMetrics(sources);
  return {
    registry,
    own: () => registry.metrics(),
    async read() {
      return mergePages(await Promise.all([registry.metrics(), asked.read()]));
    },
  };
}

function ownMetrics({ db, logger }: MetricSources): Registry {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'checkout_build_info',
    help: '1, with the version that runs.',
    labelNames: ['version'],
    registers,
  }).set({ version: VERSION }, 1);
  new Gauge({
    name: 'checkout_database_pool_connections',
    help: 'Connections of this process to Postgres, and requests that wait for one.',
    labelNames: ['state'],
    registers,
    collect() {
      for (const [state, count] of Object.entries(poolUse(db))) this.set({ state }, count);
    },
  });
  new Gauge({
    name: 'checkout_clock_offset_seconds',
    help: "By how much Postgres' clock, which the service follows, is ahead of this machine's.",
    registers,
    collect() {
      this.set(clockCorrectionMs() / 1000);
    },
  });
  new Counter({
    name: 'checkout_log_lines_total',
    help: 'Warnings and errors in the log of this process, as far as LOG_LEVEL lets them be written, by event.',
    labelNames: ['event'],
    registers,
    collect() {
      this.reset();
      for (const event of ALARMING) this.inc({ event }, 0);
      for (const [event, count] of countLoggedProblems(logger)) this.inc({ event }, count);
    },
  });
  return registry;
}
