import { Counter, collectDefaultMetrics, Gauge, type Metric, Registry } from 'prom-client';
import { type CommitMemory, LOSS_KINDS } from '../db/commit-memory.js';
import { poolUse } from '../db/knex.js';
import { clockCorrectionMs } from '../process/clock.js';
import { countLoggedProblems } from '../process/logger.js';
import { VERSION } from '../process/version.js';
import type { Facilitators } from '../x402/facilitator/facilitators.js';
import { type BacklogSources, openBacklogMetrics } from './backlog-metrics.js';
import { openFacilitatorMetrics } from './facilitator-metrics.js';
import { mergePages } from './merge-pages.js';

/**
 * Metrics of web and worker processes: the process itself (event-loop delay, memory), its connection pool, its clock, its
 * log, its facilitators, and the backlog.
 */
export interface MetricSources extends BacklogSources {
  facilitators: Pick<Facilitators, 'states'>;
  commits?: Pick<CommitMemory, 'doubted'>;
  installation?: { others(): readonly string[] };
}

interface MetricsPage {
  /** The registry for the counters of a kind of process. */
  registry: Registry;
  /** This process's own metrics, without the backlog and without I/O. */
  own(): Promise<string>;
  read(): Promise<string>;
}

/** Events with an alert. They start at 0: an alert on an increase does not fire for a series that starts at 1. */
const ALERT_EVENTS = [
  'database.away',
  'database.connection_destroyed',
  'database.failed_over',
  'database.lost_commits',
  'database.statements_not_kept',
  'delivery.given_up',
  'facilitator.refused_seller',
  'facilitator.refused_setup',
  'facilitator.supported_unknown',
  'facilitator.wrong_about_signature',
  'operators.password_guessed',
  'payment.after_expiry',
  'payment.chain_unreadable',
  'payment.forgotten',
  'payment.gone',
  'payment.outcome_unknown',
  'payment.proof_taken',
  'payment.search_unfinished',
  'payment.surplus',
  'payment.used_unexplained',
  'refund.surplus',
  'webhook_endpoint.disabled',
];

/** `labels` are added to the process's own metrics. */
export function openMetricsPage(sources: MetricSources, labels: Record<string, string> = {}): MetricsPage {
  const registry = openProcessMetrics(sources);
  registry.setDefaultLabels(labels);
  openFacilitatorMetrics(registry, sources.facilitators);
  const asked = openBacklogMetrics(sources);
  return {
    registry,
    own: () => registry.metrics(),
    async read() {
      return mergePages(await Promise.all([registry.metrics(), asked.read()]));
    },
  };
}

let openedNodeMetrics: Metric[] | undefined;

/**
 * Node's own metrics, once for each process: prom-client cannot close them, and each set of them wakes the process a hundred
 * times a second and runs after each garbage collection.
 */
function nodeMetrics(): Metric[] {
  if (openedNodeMetrics === undefined) {
    const registry = new Registry();
    collectDefaultMetrics({ register: registry });
    const names = registry.getMetricsAsArray().map(({ name }) => name);
    const metrics = names.map((name) => registry.getSingleMetric(name));
    openedNodeMetrics = metrics.filter((metric) => metric !== undefined);
  }
  return openedNodeMetrics;
}

function openProcessMetrics({ db, logger, commits, installation }: MetricSources): Registry {
  const registry = new Registry();
  const registers = [registry];
  for (const metric of nodeMetrics()) registry.registerMetric(metric);
  new Gauge({
    name: 'checkout_build_info',
    help: 'Always 1; the label has the running version.',
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
    help: "Seconds by which Postgres' clock, which the service follows, is ahead of this host's clock.",
    registers,
    collect() {
      this.set(clockCorrectionMs() / 1000);
    },
  });
  new Gauge({
    name: 'checkout_database_doubted',
    help: '1 for half an hour after Postgres has lost commits, or after another server took over, which may have lost some.',
    labelNames: ['why'],
    registers,
    collect() {
      for (const why of LOSS_KINDS) this.set({ why }, commits?.doubted() === why ? 1 : 0);
    },
  });
  new Gauge({
    name: 'checkout_redis_other_databases',
    help: 'Other databases whose processes use the same Redis.',
    registers,
    collect() {
      this.set(installation?.others().length ?? 0);
    },
  });
  new Counter({
    name: 'checkout_log_lines_total',
    help: 'Warnings and errors in the log of this process, by event. LOG_LEVEL applies.',
    labelNames: ['event'],
    registers,
    collect() {
      this.reset();
      for (const event of ALERT_EVENTS) this.inc({ event }, 0);
      for (const [event, count] of countLoggedProblems(logger)) this.inc({ event }, count);
    },
  });
  return registry;
}
