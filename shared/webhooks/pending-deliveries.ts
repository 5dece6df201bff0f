import type { QueryBuilder } from 'objection';
import type { Knex } from '../db/knex.js';
import { now } from '../process/clock.js';
import { WebhookDelivery } from './model.js';
import { DELIVERY_MOVES } from './states.js';

/** Drops the pending deliveries of a deleted endpoint. */
export async function dropPending(trx: Knex.Transaction, endpointId: string): Promise<void> {
  const { from, to } = DELIVERY_MOVES.drop;
  await WebhookDelivery.query(trx)
    .patch({ status: to, dueAt: null, leasedUntil: null })
    .where({ endpointId })
    .whereIn('status', from);
}

/** Holds the pending deliveries of a disabled endpoint. Tries in flight end first; if they fail, takers hold them. */
export async function holdPending(trx: Knex.Transaction, endpointId: string): Promise<void> {
  await WebhookDelivery.query(trx)
    .patch({ dueAt: null, leasedUntil: null })
    .where({ endpointId })
    .whereNotNull('dueAt')
    .where(isIdle);
}

/** Makes every pending delivery of an endpoint that is enabled again due now, except those in flight. */
export async function releaseHeld(trx: Knex.Transaction, endpointId: string): Promise<boolean> {
  const released = await WebhookDelivery.query(trx)
    .patch({ dueAt: now() })
    .where({ endpointId, status: 'pending' })
    .where(isIdle);
  return released > 0;
}

function isIdle(query: Pick<QueryBuilder<WebhookDelivery>, 'whereNull'>): void {
  query.whereNull('leasedUntil').orWhere('leasedUntil', '<=', now());
}
