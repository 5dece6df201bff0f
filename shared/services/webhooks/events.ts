import { now } from '../../clock.js';
import type { Knex } from '../../db/knex.js';
import { runStatement } from '../../db/statement.js';
import type { SessionStatus } from '../../domain/checkout-session.js';
import type { EventType } from '../../domain/webhook-event.js';
import { newId } from '../../ids.js';
import type { Payable } from '../../models/payable.js';
import { presentCheckoutSession } from '../../presenters/checkout-session.js';
import { isRefund, presentRefund } from '../../presenters/refund.js';
import type { RingDeliveries } from '../../queues/ring-deliveries.js';
import { WRITE_AND_FAN_OUT } from './events.sql.js';

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
