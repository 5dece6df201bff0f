import { nowMs } from '../../shared/process/clock.js';
import { withJitter } from '../../shared/process/pause.js';
import type { Closable } from '../../shared/process/shutdown.js';
import { LEASE_SECONDS, setLeaseEnd, takeLease } from '../../shared/reconcile/lease.js';
import { networksToRead } from '../../shared/reconcile/networks.js';
import { reconcile } from '../../shared/reconcile/reconcile.js';
import type { Summary } from '../../shared/reconcile/run.js';
import { createPaymentReferences } from '../../shared/x402/payment-reference.js';
import type { WorkerDeps } from '../deps/deps.js';
import { regularly } from './regularly.js';

/** How often a worker asks whether a run is due. */
const ASK_MS = 60_000;
const HOUR_SECONDS = 3600;

/** Holds the books against the chains every RECONCILE_EVERY_HOURS, in one worker at a time. */
export function reconcileRegularly(deps: WorkerDeps, askMs: number = ASK_MS): Closable {
  const hours = deps.config.reconcileEveryHours;
  if (hours === undefined) return { close: async () => undefined };
  return regularly(
    (stopped) => reconcileWhenDue(deps, hours * HOUR_SECONDS, stopped),
    () => withJitter(askMs, 0.5),
  );
}

/** A run that a stop or a crash ends is continued by the worker that takes the lease next. */
export async function reconcileWhenDue(
  deps: WorkerDeps,
  everySeconds: number,
  stopped: AbortSignal,
): Promise<void> {
  const { db, logger, metrics } = deps;
  try {
    if (!(await takeLease(db, everySeconds))) return;
    const startedAtMs = nowMs();
    const summary = await runOnce(deps, stopped);
    if (stopped.aborted) return await setLeaseEnd(db, 0);
    metrics.reconcileRun(summary.unread.length === 0 ? 'finished' : 'unread');
    const { unread, ...counts } = summary;
    for (const one of unread) logger.warn({ event: 'reconcile.unread', ...one });
    logger.info({ event: 'reconcile.finished', ...counts });
    const spentSeconds = (nowMs() - startedAtMs) / 1000;
    await setLeaseEnd(db, Math.max(everySeconds - spentSeconds, 0));
  } catch (error) {
    logger.error({ event: 'reconcile.failed', err: error });
  }
}

async function runOnce(deps: WorkerDeps, stopped: AbortSignal): Promise<Summary> {
  const { config, db, metrics, facilitators, endpointQueues: queues } = deps;
  const { createChainReader } = await import('../../shared/chains/chain-reader.js');
  const reconcileDeps = {
    ...deps,
    chainReader: createChainReader(config.rpcUrls, { queues, signal: stopped }),
    references: createPaymentReferences(config.encryptionKeys),
  };
  return await reconcile(reconcileDeps, {
    reader: 'worker',
    repair: false,
    networks: await networksToRead(db, facilitators),
    onLine: ({ status }) => metrics.reconcileLine(status),
    async goesOn() {
      if (stopped.aborted) return false;
      await setLeaseEnd(db, LEASE_SECONDS);
      return true;
    },
  });
}
