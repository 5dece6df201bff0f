import { Counter, Gauge, Histogram } from 'prom-client';
import type { Knex } from '../../shared/db/knex.js';
import { READ_TIMEOUT_MS } from '../../shared/metrics/backlog-metrics.js';
import { mergePages } from '../../shared/metrics/merge-pages.js';
import { type MetricSources, openMetricsPage } from '../../shared/metrics/metrics.js';
import { withTimeout } from '../../shared/process/timeout.js';
import { readWorkerPages } from '../../shared/upkeep/worker-pages.js';
import { BUYER_ERRORS } from '../errors/buyer-errors.js';

/** Labels come from tables and route templates, never from client input. */
export interface WebMetrics {
  request(labels: { method: string; route: string; status: number }, seconds: number): void;
  linkAnswer(outcome: string): void;
  /** Same value as `/readyz`. */
  ready(isReady: boolean): void;
  /** Includes the metrics of workers that have no port. */
  read(): Promise<string>;
}

interface OperationLabels {
  method: string;
  route: string;
}

/** An unpayable link answers 503. */
const LINK_FAILURES = ['GET', 'POST'].flatMap((method) =>
  [500, 503].map((status) => ({ method, route: '/c/:id', status })),
);
const REQUEST_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20];
/** Same names as in `serve-link.ts`. */
const LINK_OUTCOMES = [
  'paid',
  'processing',
  'payment_required',
  'payment_failed',
  ...Object.keys(BUYER_ERRORS),
];
const METHODS = new Set(['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS']);

export function openWebMetrics(sources: MetricSources, operations: readonly OperationLabels[]): WebMetrics {
  const { registry, read } = openMetricsPage(sources);
  const registers = [registry];
  const requests = new Histogram({
    name: 'checkout_http_request_seconds',
    help: 'Requests by route and status, from arrival to the end of the answer.',
    labelNames: ['method', 'route', 'status'],
    buckets: REQUEST_BUCKETS,
    registers,
  });
  const linkAnswers = new Counter({
    name: 'checkout_link_answers_total',
    help: 'What payment links answered.',
    labelNames: ['outcome'],
    registers,
  });
  const ready = new Gauge({
    name: 'checkout_ready',
    help: '1 when this process can serve, as /readyz says.',
    registers,
  });
  // `increase()` misses the first event of a series that starts with it, so failures start at 0.
  for (const outcome of LINK_OUTCOMES) linkAnswers.inc({ outcome }, 0);
  for (const labels of operations) requests.zero({ ...labels, status: 500 });
  for (const labels of LINK_FAILURES) requests.zero(labels);
  return {
    request({ method, route, status }, seconds) {
      requests.observe({ method: METHODS.has(method) ? method : 'other', route, status }, seconds);
    },
    linkAnswer: (outcome) => linkAnswers.inc({ outcome }),
    ready: (isReady) => ready.set(isReady ? 1 : 0),
    async read() {
      const [own, workers] = await Promise.all([read(), pagesOfWorkers(sources.db)]);
      return mergePages([own, ...workers]);
    },
  };
}

/** Unreadable pages are left out; another metric shows that Postgres did not answer. */
async function pagesOfWorkers(db: Knex): Promise<string[]> {
  return await withTimeout(READ_TIMEOUT_MS, readWorkerPages(db)).catch(() => []);
}
