import { recordSessionEvents } from '../checkout-sessions/record-events.js';
import type { Knex } from '../db/knex.js';
import type { Payable } from '../payables/model.js';
import type { PayableStatus } from '../payables/states.js';
import { isRefund } from '../refunds/model.js';
import { recordRefundEvent } from '../refunds/record-events.js';
import type { EventType } from '../webhooks/event-types.js';
import type { EventDeps } from '../webhooks/events.js';

/** The event of each status that a session can reach. A refund has an event for every status. */
const SESSION_EVENTS: Partial<Record<PayableStatus, EventType>> = {
  complete: 'checkout.session.completed',
  expired: 'checkout.session.expired',
};

/** Writes the event of the move that has just given the payable its status, if that move has one. */
export async function recordMove(trx: Knex.Transaction, payable: Payable, deps: EventDeps): Promise<void> {
  if (isRefund(payable)) return await recordRefundEvent(trx, 'refund.updated', payable, deps);
  const type = SESSION_EVENTS[payable.status];
  if (type !== undefined) await recordSessionEvents(trx, type, [payable], deps);
}
