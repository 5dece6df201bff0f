import { raw } from 'objection';
import { unlessRolledBack } from '../db/after-commit.js';
import { batchWrites } from '../db/batch-writes.js';
import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { now } from '../process/clock.js';
import type { Logger } from '../process/logger.js';
import { pauseAfterTriesMs } from './backoff.js';
import { WebhookDelivery, WebhookEndpoint } from './model.js';
import { LEAST_SLOTS } from './slots.js';
import { POSTPONE, POSTPONE_BATCH } from './statements/record-failure.sql.js';
import { historyWith } from './statements/take-due.sql.js';
import { DELIVERY_MOVES, type DeliveryTry } from './states.js';
import type { TakenDelivery, TakenEndpoint } from './take-due.js';

/*
 * An outcome is written only while the row has the attempt number of the try. Locks are taken in the order endpoint,
 * delivery.
 */

type Tried = Pick<TakenDelivery, 'id' | 'attempt' | 'tries' | 'payableId'>;

/** Returns the time of the next try, or undefined after the last one. */
export async function recordFailure(
  db: Knex,
  logger: Logger,
  delivery: Tried & { endpoint: Pick<TakenEndpoint, 'id' | 'url' | 'failingSince'> },
  entry: DeliveryTry,
): Promise<Date | undefined> {
  const { endpoint } = delivery;
  if (endpoint.failingSince === null) {
    await WebhookEndpoint.query(db)
      .findById(endpoint.id)
      .patch({ failingSince: new Date(entry.at), slots: raw('greatest(?::int, places / 2)', LEAST_SLOTS) })
      .whereNull('failingSince');
  }
  const tries = delivery.tries + 1;
  const pauseMs = pauseAfterTriesMs(tries);
  if (pauseMs === undefined) {
    await giveUp(db, logger, endpoint, delivery, entry);
    return undefined;
  }
  return (await postpone(db, { delivery, dueAt: new Date(now().getTime() + pauseMs), entry })).dueAt;
}

interface Postponed {
  delivery: Pick<TakenDelivery, 'id' | 'attempt'>;
  dueAt: Date;
  entry: DeliveryTry;
}

/** Failures of the same moment are written as a batch. `dueAt` is undefined when the attempt was over. */
const postpone = batchWrites<Postponed, { dueAt: Date | undefined }>({
  keyOf: ({ delivery }) => delivery.id,
  async writeBatch(db, all) {
    const rows = await runStatement<{ id: string; dueAt: Date }>(db, POSTPONE_BATCH, [
      all.map(({ delivery }) => delivery.id),
      all.map(({ delivery }) => delivery.attempt),
      all.map(({ dueAt }) => dueAt),
      all.map(({ entry }) => JSON.stringify(entry)),
      now(),
    ]);
    const written = new Map(rows.map(({ id, dueAt }) => [id, { dueAt }]));
    return all.map(({ delivery }) => written.get(delivery.id));
  },
  async writeOne(db, { delivery, dueAt, entry }) {
    const bindings = [delivery.id, delivery.attempt, dueAt, JSON.stringify(entry), now()];
    const [row] = await runStatement<{ dueAt: Date }>(db, POSTPONE, bindings);
    return { dueAt: row?.dueAt };
  },
});

/**
 * Marks the delivery as failed. Also disables the endpoint when no delivery to it has succeeded since this delivery's first
 * try, unless its owner changed its URL or enabled it during the last try, which says nothing about the new state.
 */
async function giveUp(
  db: Knex,
  logger: Logger,
  { id: endpointId, url }: Pick<TakenEndpoint, 'id' | 'url'>,
  delivery: Tried,
  entry: DeliveryTry,
): Promise<void> {
  const { from, to } = DELIVERY_MOVES.giveUp;
  await db.transaction(async (trx) => {
    const endpoint = await WebhookEndpoint.query(trx).findById(endpointId).forNoKeyUpdate().throwIfNotFound();
    const failed = await WebhookDelivery.query(trx)
      .where({ id: delivery.id, attempt: delivery.attempt })
      .patch({
        status: to,
        dueAt: null,
        leasedUntil: null,
        lostTakes: 0,
        tries: raw('tries + 1'),
        history: raw(historyWith('?::jsonb'), [JSON.stringify(entry), JSON.stringify(entry)]),
      })
      .whereIn('status', from)
      .returning('*')
      .first();
    if (failed === undefined) return;
    const named = { delivery: delivery.id, endpoint: endpointId, session: delivery.payableId };
    unlessRolledBack(trx, () => logger.error({ event: 'delivery.given_up', ...named }));
    const firstTryAt = new Date(failed.history[0]?.at ?? entry.at);
    const { failingSince, succeededAt, enabledAt, status } = endpoint;
    if (status === 'disabled' || (succeededAt !== null && succeededAt >= firstTryAt)) return;
    if (endpoint.url !== url || (enabledAt !== null && enabledAt >= new Date(entry.at))) return;
    await endpoint.$query(trx).patch({ status: 'disabled' });
    unlessRolledBack(trx, () =>
      logger.error({ event: 'webhook_endpoint.disabled', endpoint: endpointId, failingSince }),
    );
  });
}
