import { findNetwork } from '../../shared/chains/networks.js';
import type { Config } from '../../shared/config/config.js';
import { retryThroughOutage } from '../../shared/db/retry-through-outage.js';
import type { JobName } from '../../shared/jobs/jobs.js';
import type { Payment } from '../../shared/payments/model.js';
import { hostNowMs, now } from '../../shared/process/clock.js';
import type { CarryOutDeps } from '../../shared/settlement/carry-out.js';
import { paymentJob } from '../../shared/settlement/payment-job.js';
import type { Rules, Times } from '../../shared/settlement/policy/payment-state.js';
import { isQuarantined, type NextWork } from '../../shared/settlement/take-work.js';
import type { SpanStart } from '../../shared/tracing/spans.js';
import type { WorkerDeps } from '../deps/deps.js';

/** A job's part of the trace that its payment's request began. */
export function spanOf(name: JobName, { id, checkoutSessionId, network, trace }: Payment): SpanStart {
  const attributes = {
    'checkout.payment': id,
    'checkout.session': checkoutSessionId,
    'checkout.network': network,
  };
  return { name, kind: 'consumer', parent: trace ?? null, attributes };
}

/** What the operator has set for this payment's network. */
export function rulesFor(
  { confirmations, facilitator }: Config,
  { network }: Pick<Payment, 'network'>,
): Rules {
  const suffix = findNetwork(network)?.environmentSuffix;
  return {
    confirmations: suffix === undefined ? 0 : (confirmations.get(suffix) ?? 0),
    settleTimeoutMs: facilitator.settleTimeoutMs,
  };
}

export function times(): Times {
  return { now: now(), own: new Date(hostNowMs()) };
}

export function carryOutDeps({
  db,
  logger,
  config,
  notifyDeliveries,
  notifyDecided,
}: WorkerDeps): CarryOutDeps {
  return { db, logger, baseUrl: config.baseUrl, notifyDeliveries, notifyDecided };
}

/**
 * Writes the outcome of a step of a payment while it is still the taker's, though connections break: what the facilitator
 * said is known to nobody else. Each such write is guarded by the attempt and says where the payment goes.
 */
export async function writeOutcome<T>(
  { logger }: WorkerDeps,
  payment: Payment,
  write: () => Promise<T>,
): Promise<T> {
  const onBroken = (error: unknown): void =>
    logger.warn({ event: 'payment.written_again', ...named(payment), err: error });
  return await retryThroughOutage({ until: payment.dueAt ?? now(), onBroken }, write);
}

/**
 * Rings for what was just made due; when the queue store is away, the sweep finds the row, and so it does with one that
 * is settled again after workers have died with it: alone.
 */
export async function ring({ queues, logger }: WorkerDeps, payment: Payment, next: NextWork): Promise<void> {
  if (next.stage === 'settle' && isQuarantined(payment)) return;
  try {
    await queues.enqueue(paymentJob({ id: payment.id, attempt: payment.attempt, ...next }));
  } catch (error) {
    logger.warn({ event: 'queue.not_rung', ...named(payment), err: error });
  }
}

function named({ id, checkoutSessionId }: Payment): { payment: string; session: string } {
  return { payment: id, session: checkoutSessionId };
}
