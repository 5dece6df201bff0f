import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { now } from '../process/clock.js';
import type { NotifyDeliveries } from '../queues/notify-deliveries.js';
import { newId } from '../values/ids.js';
import type { EventType } from './event-types.js';
import { WRITE_AND_FAN_OUT } from './statements/events.sql.js';

export interface EventDeps {
  baseUrl: string;
  notifyDeliveries: NotifyDeliveries;
}

/** The object of an event, as the transaction left it and as the API shows it. */
export interface EventSubject {
  id: string;
  accountId: string;
  livemode: boolean;
  object: object;
}

/**
 * Writes an event for each subject in the transaction of the change, with a delivery for every enabled endpoint that
 * wants its type: one statement, whatever the number of either. Endpoints are never deleted as rows, so no foreign key
 * of an endpoint can fail a payment's decision. Workers are notified once the transaction is committed.
 */
export async function recordEvents(
  trx: Knex.Transaction,
  type: EventType,
  subjects: readonly EventSubject[],
  { notifyDeliveries }: Pick<EventDeps, 'notifyDeliveries'>,
): Promise<void> {
  const events = subjects.map(({ id, accountId, livemode, object }) => ({
    id: newId('evt_'),
    account_id: accountId,
    livemode,
    checkout_session_id: id,
    object,
  }));
  const bindings = [JSON.stringify(events), type, now()];
  const rows = await runStatement<{ accountId: string }>(trx, WRITE_AND_FAN_OUT, bindings);
  const accountIds = rows.map(({ accountId }) => accountId);
  const eventId = events.at(-1)?.id ?? '';
  trx.executionPromise.then(
    () => notifyDeliveries({ eventId, accountIds }),
    () => undefined, // Rolled back: nothing was written.
  );
}
