import { raw } from 'objection';
import type { Knex } from '../db/knex.js';
import { now } from '../process/clock.js';
import type { Logger } from '../process/logger.js';
import { pauseAfterTriesMs } from './backoff.js';
import { WebhookDelivery, WebhookEndpoint } from './model.js';
import { LEAST_SLOTS } from './slots.js';
import { DELIVERY_MOVES, type DeliveryTry } from './states.js';
import type { TakenDelivery, TakenEndpoint } from './take-due.js';

/*
 * An outcome is written only while the row has the attempt number of the try. Locks are taken in the order endpoint,
 * delivery.
 */

/** The worker did not crash on this delivery, so its crashes are counted from zero again. */
const LEASE_ENDED = { leasedUntil: null, lostTakes: 0 };

type Tried = Pick<TakenDelivery, 'id' | 'attempt' | 'tries' | 'payableId'>;

/** Returns the time of the next try, or undefined after the last one. */
export async function recordFailure(
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
  const written = await ofThisAttempt(db, delivery)
    .patch({ dueAt, ...LEASE_ENDED, ...trySpent(entry) })
    .whereIn('status', ['pending']);
  return written === 1 ? dueAt : undefined;
}

/** Disables the endpoint too when no delivery to it has succeeded since the first try of this one. */
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
    const failed = await ofThisAttempt(trx, delivery)
      .patch({ status: to, dueAt: null, ...LEASE_ENDED, ...trySpent(entry) })
      .whereIn('status', from)
      .returning('*')
      .first();
    if (failed === undefined) return;
    logger.error({
      event: 'delivery.given_up',
      delivery: delivery.id,
      endpoint: endpointId,
      session: delivery.payableId,
    });
    const firstTryAt = new Date(failed.history[0]?.at ?? entry.at);
    const { failingSince, succeededAt, status } = endpoint;
    if (status === 'disabled' || (succeededAt !== null && succeededAt >= firstTryAt)) return;
    await endpoint.$query(trx).patch({ status: 'disabled' });
    logger.error({ event: 'webhook_endpoint.disabled', endpoint: endpointId, failingSince });
  });
}

function ofThisAttempt(db: Knex, { id, attempt }: Tried) {
  return WebhookDelivery.query(db).where({ id, attempt });
}

function trySpent(entry: DeliveryTry): { tries: ReturnType<typeof raw>; history: ReturnType<typeof raw> } {
  return { tries: raw('tries + 1'), history: raw('history || ?::jsonb', JSON.stringify(entry)) };
}
