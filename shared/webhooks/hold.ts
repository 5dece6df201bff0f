import type { QueryBuilder } from 'objection';
import type { Knex } from '../db/knex.js';
import { now } from '../process/clock.js';
import { DELIVERY_MOVES } from './event-types.js';
import { WebhookDelivery } from './model.js';

/** The endpoint is deleted. */
export async function dropPending(trx: Knex.Transaction, endpointId: string): Promise<void> {
  const { from, to } = DELIVERY_MOVES.drop;
  await WebhookDelivery.query(trx)
    .patch({ status: to, dueAt: null, leasedUntil: null })
    .where({ endpointId })
    .whereIn('status', from);
}

/** The endpoint is disabled. What is on its way is left to end, and is held afterwards. */
export async function holdPending(trx: Knex.Transaction, endpointId: string): Promise<void> {
  await WebhookDelivery.query(trx)
    .patch({ dueAt: null, leasedUntil: null })
    .where({ endpointId })
    .whereNotNull('dueAt')
    .where(isIdle);
}

/** The endpoint is enabled again: what was held is due, and what was on its way when it was disabled and has failed. */
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
