import { now } from '../../clock.js';
import type { Knex } from '../../db/knex.js';
import type { Row } from '../../db/model-columns.js';
import { runStatement } from '../../db/statement.js';
import { SESSION_MOVES } from '../../domain/checkout-session.js';
import { CheckoutSession } from '../../models/checkout-session.js';
import { type EventDeps, recordEvents } from '../webhooks/events.js';
import { EXPIRE_OVERDUE, SHOWN } from './expire.sql.js';

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
