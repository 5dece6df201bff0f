import type { Knex } from '../db/knex.js';
import type { Payable } from '../payables/model.js';
import { type EventDeps, recordEvents } from '../webhooks/events.js';
import { presentRefund } from './present.js';

/** Writes an event of the refund, in the transaction that changed it. */
export async function recordRefundEvent(
  trx: Knex.Transaction,
  type: 'refund.created' | 'refund.updated',
  refund: Payable,
  deps: EventDeps,
): Promise<void> {
  const { id, accountId, livemode } = refund;
  const subject = { id, accountId, livemode, object: presentRefund(refund, deps.baseUrl) };
  await recordEvents(trx, type, [subject], deps);
}
