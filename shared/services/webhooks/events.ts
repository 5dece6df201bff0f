import { now } from '../../clock.js';
import type { Knex } from '../../db/knex.js';
import { runStatement, type Statement } from '../../db/statement.js';
import type { EventType } from '../../domain/webhook-event.js';
import { newId } from '../../ids.js';
import type { CheckoutSession } from '../../models/checkout-session.js';
import { presentCheckoutSession } from '../../presenters/checkout-session.js';
import type { RingDeliveries } from '../../queues/ring-deliveries.js';

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
  const rows = await runStatement<{ endpointId: string }>(trx, WRITE_AND_FAN_OUT, bindings);
  const endpointIds = [...new Set(rows.map(({ endpointId }) => endpointId))];
  const eventId = events.at(-1)?.id ?? '';
  trx.executionPromise.then(
    () => ringDeliveries({ eventId, endpointIds }),
    () => undefined, // Rolled back: there is nothing to deliver.
  );
}

/** The deliveries of the events in `written`. A delivery's id sorts like its event's: it begins with the same time and count. */
export function fanOut(dueAt: string): string {
  return `
  INSERT INTO webhook_deliveries (id, event_id, endpoint_id, status, due_at)
  SELECT 'wd_' || substr(written.id, 5, 11) || replace(gen_random_uuid()::text, '-', ''),
    written.id, endpoint.id, 'pending', ${dueAt}
  FROM written
  -- Looked up event by event (OFFSET 0 keeps it so): else the planner, who takes the events for a hundred, reads the
  -- endpoints of all accounts.
  CROSS JOIN LATERAL (
    SELECT id FROM webhook_endpoints
    WHERE account_id = written.account_id AND livemode = written.livemode
      AND deleted_at IS NULL AND status = 'enabled' AND enabled_events && ARRAY[written.type, '*']
    OFFSET 0
  ) endpoint
  RETURNING event_id AS "eventId", endpoint_id AS "endpointId"`;
}

const WRITE_AND_FAN_OUT: Statement = {
  name: 'write-and-fan-out',
  text: `
  WITH written AS (
    INSERT INTO events (id, account_id, livemode, type, checkout_session_id, object)
    SELECT id, account_id, livemode, $2, checkout_session_id, object
    FROM json_to_recordset($1::json)
      AS new (id text, account_id text, livemode boolean, checkout_session_id text, object json)
    RETURNING id, account_id, livemode, type
  )
  ${fanOut('$3')}`,
};
