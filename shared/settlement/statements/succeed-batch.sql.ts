import { sessionAsJson } from '../../checkout-sessions/statements/as-json.sql.js';
import { SESSION_MOVES } from '../../payables/states.js';
import { historyWith } from '../../payments/history.js';
import { PAYMENT_MOVES } from '../../payments/states.js';
import type { EventType } from '../../webhooks/event-types.js';
import { fanOut } from '../../webhooks/statements/events.sql.js';

const COMPLETED: EventType = 'checkout.session.completed';

export const SUCCEED = {
  name: 'succeed_settled',
  text: `
    WITH settled AS MATERIALIZED (
      SELECT *
      FROM json_to_recordset($1) AS settled (id text, attempt integer, session_id text, transaction text, payer text,
        settled_at timestamptz, observation jsonb, event_id text, shown json)
      -- Always true, and makes the planner expect one row: it looks up each by its key, also when tables are small.
      WHERE id = id || ''
    ), held AS MATERIALIZED (
      SELECT settled.*
      FROM settled CROSS JOIN LATERAL (
        SELECT FROM checkout_sessions
        WHERE id = settled.session_id AND status = $2 AND payment_id = settled.id AND late_payment_id IS NULL
        FOR NO KEY UPDATE SKIP LOCKED
      ) session
    ), succeeded AS (
      UPDATE payments payment
      SET status = '${PAYMENT_MOVES.succeed.to}', transaction = held.transaction, proof_index = NULL,
        payer = held.payer, settled_at = held.settled_at, stage = NULL, due_at = NULL, failure_code = NULL,
        search_place = NULL, used_seen_at = NULL, history = ${historyWith('held.observation')}
      FROM held
      WHERE payment.id = held.id AND payment.attempt = held.attempt AND payment.status = ANY ($3)
      RETURNING payment.id, held.session_id, held.event_id, held.shown
    ), completed AS (
      UPDATE checkout_sessions session
      SET status = '${SESSION_MOVES.complete.to}'
      FROM succeeded
      WHERE session.id = succeeded.session_id AND session.status = $2 AND session.payment_id = succeeded.id
      RETURNING session.id, session.account_id, session.livemode, succeeded.event_id, ${sessionAsJson({ status: SESSION_MOVES.complete.to, paymentStatus: 'paid', payment: 'succeeded.shown::text' })} AS object
    ), written AS (
      INSERT INTO events (id, account_id, livemode, type, checkout_session_id, object)
      SELECT event_id, account_id, livemode, '${COMPLETED}', id, object FROM completed
      RETURNING id, account_id, livemode, type
    ), delivery AS (${fanOut('$4')}
    )
    SELECT written.id AS "eventId", array_remove(array_agg(delivery."endpointId"), NULL) AS "endpointIds"
    FROM written LEFT JOIN delivery ON delivery."eventId" = written.id
    GROUP BY written.id`,
};
