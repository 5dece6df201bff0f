import { now } from '../../clock.js';
import type { Knex } from '../../db/knex.js';
import { runStatement } from '../../db/statement.js';
import type { EventType } from '../../domain/webhook-event.js';
import { newId } from '../../ids.js';
import type { CheckoutSession } from '../../models/checkout-session.js';
import { presentCheckoutSession } from '../../presenters/checkout-session.js';
import type { RingDeliveries } from '../../queues/ring-deliveries.js';
import { WRITE_AND_FAN_OUT } from './events.sql.js';

export interface EventDeps {
  baseUrl: string;
  ringDeliveries: RingDeliveries;
}

/**
 * Events are written in the transaction of the move they tell of, each with the session as that move left it and a
 * delivery for every enabled endpoint that wants its type: one statement, whatever the number of either. Endpoints
 * are never deleted as rows, so nothing about them can fail a payment's verdict. Who delivers hears of it once the
 * transaction is committed.
 */
export async function recordEvents(
  trx: Knex.Transaction,
  type: EventType,
  sessions: readonly CheckoutSession[],
  { baseUrl, ringDeliveries }: EventDeps,
): Promise<void> {
  const events = sessions.map((session) => ({
    id: newId('evt_'),
    account_id: session.accountId,
    livemode: session.livemode,
    checkout_session_id: session.id,
    object: presentCheckoutSession(session, { baseUrl, expand: [] }),
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
