import { raw } from 'objection';
import type { Knex } from '../db/knex.js';
import { now } from '../process/clock.js';
import type { Logger } from '../process/logger.js';
import { pauseAfterTriesMs } from './backoff.js';
import { DELIVERY_MOVES, type DeliveryTry, LEAST_SLOTS } from './event-types.js';
import { holdPending } from './hold.js';
import { WebhookDelivery, WebhookEndpoint } from './model.js';
import type { TakenDelivery, TakenEndpoint } from './take-due.js';

/*
 * Tries that failed. A try's outcome is written only while its attempt is the row's. Locks are taken in the order endpoint,
 * delivery.
 */

/** However it ended, its taker has lived to say so. */
const ENDED = { leasedUntil: null, lostTakes: 0 };

type Tried = Pick<TakenDelivery, 'id' | 'attempt' | 'tries'>;

/** The time of the next try, or undefined when this was the last. */
export async function recordFailedTry(
  db: Knex,
  logger: Logger,
  delivery: Tried & { endpoint: Pick<TakenEndpoint, 'id' | 'failingSince'> },
  entry: DeliveryTry,
): Promise<Date | undefined> {
  const { endpoint } = delivery;
  if (endpoint.failingSince === null) {
    await WebhookEndpoint.query(db)
      .findById(endpoint.id)
      .patch({ failingSince: new Date(entry.at), places: raw('greatest(?::int, places / 2)', LEAST_SLOTS) })
      .whereNull('failingSince');
  }
  const tries = delivery.tries + 1;
  const pauseMs = pauseAfterTriesMs(tries);
  if (pauseMs === undefined) {
    await giveUp(db, logger, endpoint.id, delivery, entry);
    return undefined;
  }
  const dueAt = new Date(now().getTime() + pauseMs);
  const written = await whileMine(db, delivery)
    .patch({ dueAt, ...ENDED, ...trySpent(entry) })
    .whereIn('status', ['pending']);
  return written === 1 ? dueAt : undefined;
}

/** Its tries are used up. An endpoint to which nothing succeeded since the first of them is disabled. */
async function giveUp(
  db: Knex,
  logger: Logger,
  endpointId: string,
  delivery: Tried,
  entry: DeliveryTry,
): Promise<void> {
  const { from, to } = DELIVERY_MOVES.giveUp;
  await db.transaction(async (trx) => {
    const endpoint = await WebhookEndpoint.query(trx).findById(endpointId).forNoKeyUpdate().throwIfNotFound();
    const failed = await whileMine(trx, delivery)
      .patch({ status: to, dueAt: null, ...ENDED, ...trySpent(entry) })
      .whereIn('status', from)
      .returning('*')
      .first();
    if (failed === undefined) return;
    logger.error({ event: 'delivery.given_up', delivery: delivery.id, endpoint: endpointId });
    const firstTryAt = new Date(failed.history[0]?.at ?? entry.at);
    const { failingSince, succeededAt, status } = endpoint;
    if (status === 'disabled' || (succeededAt !== null && succeededAt >= firstTryAt)) return;
    await endpoint.$query(trx).patch({ status: 'disabled' });
    await holdPending(trx, endpointId);
    logger.error({ event: 'webhook_endpoint.disabled', endpoint: endpointId, failingSince });
  });
}

/** A try that could not even be begun, through no fault of the receiver: it spends none. */
export async function postponeDelivery(db: Knex, delivery: Tried, dueAt: Date): Promise<void> {
  await whileMine(db, delivery)
    .patch({ dueAt, ...ENDED })
    .whereIn('status', ['pending']);
}

function whileMine(db: Knex, { id, attempt }: Tried) {
  return WebhookDelivery.query(db).where({ id, attempt });
}

function trySpent(entry: DeliveryTry): { tries: ReturnType<typeof raw>; history: ReturnType<typeof raw> } {
  return { tries: raw('tries + 1'), history: raw('history || ?::jsonb', JSON.stringify(entry)) };
}
