import type { Knex } from '../db/knex.js';
import type { EventType } from '../domain/webhook-event.js';
import { newId } from '../ids.js';
import type { CheckoutSession } from '../models/checkout-session.js';
import { Event } from '../models/event.js';
import { presentCheckoutSession } from '../presenters/checkout-session.js';

/** Written in the transaction of the move it tells of, with the session as that move left it. */
export async function recordEvents(
  trx: Knex.Transaction,
  type: EventType,
  sessions: readonly CheckoutSession[],
  baseUrl: string,
): Promise<void> {
  const rows = sessions.map((session) => ({
    id: newId('evt_'),
    accountId: session.accountId,
    livemode: session.livemode,
    type,
    checkoutSessionId: session.id,
    object: presentCheckoutSession(session, { baseUrl, expand: [] }),
  }));
  await Event.query(trx).insert(rows);
}
