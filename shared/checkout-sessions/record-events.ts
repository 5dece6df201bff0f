import type { Knex } from '../db/knex.js';
import type { Payable } from '../payables/model.js';
import type { EventType } from '../webhooks/event-types.js';
import { type EventDeps, recordEvents } from '../webhooks/events.js';
import { presentCheckoutSession } from './present.js';

/** Writes an event of this type for each session, in the transaction that changed them. */
export async function recordSessionEvents(
  trx: Knex.Transaction,
  type: EventType,
  sessions: readonly Payable[],
  deps: EventDeps,
): Promise<void> {
  const view = { baseUrl: deps.baseUrl, expand: [] };
  const subjects = sessions.map((session) => ({
    id: session.id,
    accountId: session.accountId,
    livemode: session.livemode,
    object: presentCheckoutSession(session, view),
  }));
  await recordEvents(trx, type, subjects, deps);
}
