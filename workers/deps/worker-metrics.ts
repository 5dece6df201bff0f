import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { hostname } from 'node:os';
import { Counter, Gauge, Histogram } from 'prom-client';
import type { OpenChains } from '../../shared/chains/chains.js';
import type { ChainFinding } from '../../shared/chains/check/finding.js';
import { NETWORKS } from '../../shared/chains/networks/networks.js';
import type { JobName } from '../../shared/jobs/jobs.js';
import { openLoginLimiter } from '../../shared/limits/login-limiter.js';
import { openChainMetrics } from '../../shared/metrics/chain-metrics.js';
import { type MetricSources, openMetricsPage } from '../../shared/metrics/metrics.js';
import { listen } from '../../shared/process/listen.js';
import type { Closable } from '../../shared/process/shutdown.js';
import { VERSION } from '../../shared/process/version.js';
import { LINE_STATUSES, type LineStatus } from '../../shared/reconcile/line.js';
import { bearerMatches } from '../../shared/secrets/secrets.js';
import type { SettleVerdict } from '../../shared/x402/facilitator/settle-verdict.js';

const SETTLE_VERDICTS = [
  'settled',
  'rejected',
  'not_processed',
  'unknown',
] as const satisfies SettleVerdict['kind'][];
type CallVerdict = (typeof SETTLE_VERDICTS)[number];
/** `unread`: a part of a chain could not be read, and is left to the next run. */
const RUN_OUTCOMES = ['finished', 'unread'] as const;
const TRY_OUTCOMES = ['succeeded', 'refused', 'unanswered'] as const;

export interface WorkerMetrics {
  /** The `worker` label: the host name and a random suffix. */
  worker: string;
  settleCall(call: { facilitator: string; verdict: CallVerdict }, seconds: number): void;
  /** `seconds` is the time from the arrival of the signature to the final answer. */
  paymentDecided(payment: { facilitator: string; network: string }, seconds: number): void;
  deliveryTry(outcome: (typeof TRY_OUTCOMES)[number], seconds: number): void;
  chainCheck(network: string, finding: ChainFinding['kind']): void;
  reconcileLine(status: LineStatus): void;
  reconcileRun(outcome: (typeof RUN_OUTCOMES)[number]): void;
  /** The page without the backlog, which is the same for all processes. */
  own(): Promise<string>;
  read(): Promise<string>;
}

interface WorkerParts {
  chains?: Pick<OpenChains, 'endpoints'>;
  /** The queues that this worker serves. */
  serves?: readonly JobName[];
}

/** The alert's threshold, 10 s, is one of them. */
const WAIT_BUCKETS = [1, 2.5, 5, 10, 20, 60, 300];
const CALL_BUCKETS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30];

export function openWorkerMetrics(
  sources: MetricSources,
  { chains, serves = [] }: WorkerParts = {},
): WorkerMetrics {
  const worker = `${hostname()}-${randomBytes(3).toString('hex')}`;
  const { registry, own, read } = openMetricsPage(sources, { worker });
  const registers = [registry];
  const settleCalls = new Histogram({
    name: 'checkout_settle_call_seconds',
    help: 'Calls of /settle by facilitator, and by what their answer proves: settled, rejected, not_processed, unknown.',
    labelNames: ['facilitator', 'verdict'],
    buckets: CALL_BUCKETS,
    registers,
  });
  const waits = new Histogram({
    name: 'checkout_payment_wait_seconds',
    help: 'From the arrival of a signature to the final answer about its payment, by facilitator and network.',
    labelNames: ['facilitator', 'network'],
    buckets: WAIT_BUCKETS,
    registers,
  });
  const tries = new Histogram({
    name: 'checkout_delivery_try_seconds',
    help: 'Tries of webhook deliveries: succeeded (2xx), refused (another status), unanswered.',
    labelNames: ['outcome'],
    buckets: CALL_BUCKETS,
    registers,
  });
  const checks = new Counter({
    name: 'checkout_chain_looks_total',
    help: 'Chain checks by finding; unreadable: the endpoint gave no usable answer.',
    labelNames: ['network', 'finding'],
    registers,
  });
  if (chains !== undefined) openChainMetrics(registry, chains);
  const served = new Gauge({
    name: 'checkout_worker_serves',
    help: 'Always 1; the label has a queue that this worker serves.',
    labelNames: ['queue'],
    registers,
  });
  for (const queue of serves) served.set({ queue }, 1);
  const lines = new Counter({
    name: 'checkout_reconcile_lines_total',
    help: 'Transfers and payments that regular runs of reconcile held against each other, by what they are.',
    labelNames: ['status'],
    registers,
  });
  const runs = new Counter({
    name: 'checkout_reconcile_runs_total',
    help: 'Regular runs of reconcile: finished, or unread when a part of a chain could not be read.',
    labelNames: ['outcome'],
    registers,
  });
  // An alert on an increase does not fire for a series that starts at 1.
  for (const { name: facilitator } of sources.facilitators.states()) {
    for (const verdict of SETTLE_VERDICTS) settleCalls.zero({ facilitator, verdict });
    for (const { caip2: network } of NETWORKS) waits.zero({ facilitator, network });
  }
  for (const outcome of TRY_OUTCOMES) tries.zero({ outcome });
  for (const status of LINE_STATUSES) lines.inc({ status }, 0);
  for (const outcome of RUN_OUTCOMES) runs.inc({ outcome }, 0);
  for (const { caip2: network } of NETWORKS) checks.inc({ network, finding: 'unreadable' }, 0);
  return {
    worker,
    settleCall: (call, seconds) => settleCalls.observe(call, seconds),
    paymentDecided: (payment, seconds) => waits.observe(payment, seconds),
    deliveryTry: (outcome, seconds) => tries.observe({ outcome }, seconds),
    chainCheck: (network, finding) => checks.inc({ network, finding }),
    reconcileLine: (status) => lines.inc({ status }),
    reconcileRun: (outcome) => runs.inc({ outcome }),
    own,
    read,
  };
}

/** Serves /metrics and /healthz for operators, on the only port of a worker. */
export async function serveWorkerMetrics(
  metrics: WorkerMetrics,
  port: number,
  token: string | undefined,
): Promise<Closable> {
  const loginLimiter = openLoginLimiter();
  const server = createServer((request, response) => {
    const end = (status: number, body: string): void => {
      response.writeHead(status, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }).end(body);
    };
    if (request.url === '/healthz') return end(200, `ok ${VERSION}\n`);
    if (request.url !== '/metrics') return end(404, 'This port serves only /metrics and /healthz.\n');
    const { authorization } = request.headers;
    if (token !== undefined) {
      const address = request.socket.remoteAddress ?? 'unknown';
      const verdict =
        authorization !== undefined && loginLimiter.check(address, () => bearerMatches(authorization, token));
      if (verdict === false) return end(401, 'Send METRICS_TOKEN as a bearer token.\n');
      if (verdict !== true) {
        response.setHeader('retry-after', verdict.retryAfterSeconds);
        return end(429, 'Too many wrong tokens. Wait for the time in Retry-After.\n');
      }
    }
    metrics.read().then(
      (text) => end(200, text),
      () => end(500, 'The metrics could not be read.\n'),
    );
  });
  await listen(server, { port, variable: 'WORKER_METRICS_PORT' });
  return {
    async close() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}
