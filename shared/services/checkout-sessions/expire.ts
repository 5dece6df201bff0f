import { now } from '../../clock.js';
import type { Knex } from '../../db/knex.js';
import { modelColumns, type Row } from '../../db/model-columns.js';
import { runStatement, type Statement } from '../../db/statement.js';
import { SESSION_MOVES } from '../../domain/checkout-session.js';
import { CheckoutSession } from '../../models/checkout-session.js';
import { SHOWN_SESSION_FIELDS } from '../../presenters/checkout-session.js';
import { type EventDeps, recordEvents } from '../webhooks/events.js';

const SHOWN = modelColumns(CheckoutSession, 'session', SHOWN_SESSION_FIELDS);

const EXPIRE_OVERDUE: Statement = {
  name: 'expire-overdue-sessions',
  text: `
  WITH overdue AS (
    SELECT id FROM checkout_sessions WHERE status = 'open' AND expires_at <= $1
    ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED
  )
  UPDATE checkout_sessions session SET status = $3
  WHERE id = ANY (ARRAY(SELECT id FROM overdue)) AND status = ANY($4)
  RETURNING ${SHOWN.sql}`,
};

/** Expires up to `limit` overdue sessions with their events; any number of workers may do so at once. */
export async function expireOverdueSessions(db: Knex, limit: number, events: EventDeps): Promise<number> {
  const { from, to } = SESSION_MOVES.expire;
  return await db.transaction(async (trx) => {
    const rows = await runStatement<Row>(trx, EXPIRE_OVERDUE, [now(), limit, to, from]);
    const sessions = rows.map((row) => SHOWN.read(row));
    if (sessions.length > 0) await recordEvents(trx, 'checkout.session.expired', sessions, events);
    return sessions.length;
  });
}

export async function hasOverdueSessions(db: Knex): Promise<boolean> {
  const overdue = CheckoutSession.query(db)
    .select('id')
    .where('status', 'open')
    .where('expiresAt', '<=', now());
  return (await overdue.first()) !== undefined;
}
