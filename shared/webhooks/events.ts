import { presentCheckoutSession } from '../checkout-sessions/present.js';
import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import type { Payable } from '../payables/model.js';
import type { SessionStatus } from '../payables/states.js';
import { now } from '../process/clock.js';
import type { RingDeliveries } from '../queues/notify-deliveries.js';
import { isRefund, presentRefund } from '../refunds/present.js';
import { newId } from '../values/ids.js';
import type { EventType } from './event-types.js';
import { WRITE_AND_FAN_OUT } from './statements/events.sql.js';

export interface EventDeps {
  baseUrl: string;
  ringDeliveries: RingDeliveries;
}

/** What a session's moves are told by; of a refund every move is told. */
const SESSION_EVENTS: Partial<Record<SessionStatus, EventType>> = {
  complete: 'checkout.session.completed',
  expired: 'checkout.session.expired',
};

/** Tells of the move that has just left the payable as it is, if it is one that is told. */
export async function recordMove(trx: Knex.Transaction, payable: Payable, deps: EventDeps): Promise<void> {
  const type = isRefund(payable) ? 'refund.updated' : SESSION_EVENTS[payable.status];
  if (type !== undefined) await recordEvents(trx, type, [payable], deps);
}

/**
 * Events are written in the transaction of what they tell of, each with the payable as that left it and a delivery for
 * every enabled endpoint that wants its type: one statement, whatever the number of either. Endpoints are never deleted as
 * rows, so nothing about them can fail a payment's verdict. Who delivers hears of it once the transaction is committed.
 */
export async function recordEvents(
  trx: Knex.Transaction,
  type: EventType,
  payables: readonly Payable[],
  { baseUrl, ringDeliveries }: EventDeps,
): Promise<void> {
  const events = payables.map((payable) => ({
    id: newId('evt_'),
    account_id: payable.accountId,
    livemode: payable.livemode,
    checkout_session_id: payable.id,
    object: isRefund(payable)
      ? presentRefund(payable, baseUrl)
      : presentCheckoutSession(payable, { baseUrl, expand: [] }),
  }));
  const bindings = [JSON.stringify(events), type, now()];
  const rows = await runStatement<{ accountId: string }>(trx, WRITE_AND_FAN_OUT, bindings);
  const accountIds = rows.map(({ accountId }) => accountId);
  const eventId = events.at(-1)?.id ?? '';
  trx.executionPromise.then(
    () => ringDeliveries({ eventId, accountIds }),
    () => undefined, // Rolled back: there is nothing to deliver.
  );
}
