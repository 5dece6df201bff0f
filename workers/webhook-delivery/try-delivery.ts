import { now, nowMs } from '../../shared/process/clock.js';
import { inSpan, isTracing } from '../../shared/tracing/spans.js';
import { traceOfEvent } from '../../shared/webhooks/events.js';
import { recordFailure } from '../../shared/webhooks/record-failure.js';
import { recordSuccess } from '../../shared/webhooks/record-success.js';
import type { DeliveryTry } from '../../shared/webhooks/states.js';
import type { Batch, TakenDelivery } from '../../shared/webhooks/take-due.js';
import { holdUnreadable } from '../../shared/webhooks/unreadable-secrets.js';
import type { WorkerDeps } from '../deps/deps.js';
import type { OpenSecrets } from './open-secrets.js';
import { isSuccess } from './post.js';
import type { Sender, Sent } from './sender.js';
import { signingTimeMs, signWebhook } from './sign.js';

const HEADERS = {
  'content-type': 'application/json; charset=utf-8',
  'user-agent': 'StablecoinCheckout/1.0 (webhooks)',
};

interface TryDeps {
  sender: Sender;
  openSecrets: OpenSecrets;
  /** Called after a success: the most bytes that the next delivery in the slots may have; 0 when they are not passed on. */
  bytesToPassOn(): number;
  /** Called after a success with the duration of the try. */
  onSuccess(durationMs: number): void;
}

/** Signs, sends and records one try. After a success that passes its slots on, returns the deliveries taken into them. */
export async function tryDelivery(
  deps: WorkerDeps,
  { sender, openSecrets, bytesToPassOn, onSuccess }: TryDeps,
  delivery: TakenDelivery,
): Promise<Batch | undefined> {
  const { db, logger, metrics, recentWrites } = deps;
  const { endpoint } = delivery;
  const secrets = openSecrets(endpoint);
  if (secrets instanceof Error) {
    if (await holdUnreadable(db, delivery))
      logger.error({ event: 'webhook_secret.unreadable', endpoint: endpoint.id, err: secrets });
    return undefined;
  }
  // The receiver may read the session at once, and a replica of Postgres may lag behind.
  await recentWrites.renew(endpoint.accountId);
  const at = now();
  const seconds = Math.floor(signingTimeMs(delivery) / 1000);
  const signing = signWebhook(secrets, delivery.eventId, delivery.body, seconds);
  const { headers, body } = signing instanceof Promise ? await signing : signing;
  const { id: endpointId, accountId, url } = endpoint;
  const { result, durationMs } = await sendInTrace(deps, delivery, () =>
    sender.send({ accountId, endpointId, url, headers: { ...HEADERS, ...headers }, body }),
  );
  const answered = result.kind === 'answered';
  const entry: DeliveryTry = {
    at: at.toISOString(),
    durationMs,
    status: answered ? result.status : null,
    error: answered ? null : result.error,
    answer: answered ? result.answer : null,
  };
  const succeeded = isSuccess(result);
  const next = succeeded
    ? await recordSuccess(db, { delivery, entry, bytesToPassOn: bytesToPassOn() })
    : undefined;
  if (succeeded) onSuccess(entry.durationMs);
  const nextTryAt = succeeded ? undefined : await recordFailure(db, logger, delivery, entry);
  metrics.deliveryTry(succeeded ? 'succeeded' : answered ? 'refused' : 'unanswered', entry.durationMs / 1000);
  logger.info({
    event: 'delivery.attempted',
    delivery: delivery.id,
    endpoint: endpoint.id,
    sentEvent: delivery.eventId,
    session: delivery.payableId,
    try: delivery.tries + 1,
    status: entry.status,
    error: entry.error,
    durationMs: entry.durationMs,
    succeeded,
  });
  if (nextTryAt !== undefined) await enqueueRetry(deps, endpoint.accountId, nextTryAt);
  return next;
}

/** Sends in a span of the trace of the payment that completed the session or refund. */
async function sendInTrace(
  { db }: WorkerDeps,
  { id, eventId, payableId, endpoint, tries }: TakenDelivery,
  send: () => Promise<Sent>,
): Promise<Sent> {
  // A failed look-up of the trace must not fail the delivery.
  const parent = isTracing() ? await traceOfEvent(db, eventId).catch(() => null) : null;
  const attributes = {
    'checkout.delivery': id,
    'checkout.event': eventId,
    'checkout.session': payableId,
    'checkout.endpoint': endpoint.id,
    'checkout.try': tries + 1,
  };
  return await inSpan({ name: 'deliver-webhook', kind: 'client', parent, attributes }, async (span) => {
    const sent = await send();
    const { result } = sent;
    if (result.kind === 'answered') span.set({ 'http.response.status_code': result.status });
    else span.fail(result.error);
    return sent;
  });
}

/** Enqueues at most one job per account and second. */
async function enqueueRetry({ queues, logger }: WorkerDeps, accountId: string, dueAt: Date): Promise<void> {
  const second = Math.ceil(dueAt.getTime() / 1000);
  try {
    await queues.enqueue({
      name: 'deliver-webhook',
      payload: { accountId },
      id: `${accountId}-${second}`,
      delayMs: Math.max(0, second * 1000 - nowMs()),
    });
  } catch (error) {
    logger.warn({ event: 'queue.job_not_added', account: accountId, err: error });
  }
}
