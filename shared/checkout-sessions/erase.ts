import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { Refusal, requireFound } from '../errors/refusal.js';
import { MAX_REMOVED_BATCH_BYTES } from '../limits/bounds.js';
import { isOver } from '../payables/states.js';
import { certainNow } from '../process/clock.js';
import { DAY_MS } from '../values/day.js';
import { CheckoutSession } from './model.js';
import { ERASE, ERASE_KEPT_ANSWERS, LOCK_EVENTS, LOCK_OLD_SESSIONS } from './statements/erase.sql.js';

/**
 * Erasure removes the buyer's personal data from a complete or expired session and from every copy of it: its events, the
 * answers of their receivers, the answers kept for Idempotency-Keys. Amount, paying wallet and receiving wallet stay.
 * The session's row is locked by a statement of its own, so that the next statement sees an event written just before; its
 * events likewise, for deliveries and answers of an event that was just sent again.
 */
interface Erased {
  sessions: number;
  events: number;
  deliveryAnswers: number;
}

const NOTHING: Erased = { sessions: 0, events: 0, deliveryAnswers: 0 };

/** Erases at most `limit` sessions that expired more than `days` days ago, and returns their number. */
export async function eraseOldSessions(db: Knex, days: number, limit: number): Promise<number> {
  return await db.transaction(async (trx) => {
    const expiredBefore = new Date(certainNow().getTime() - days * DAY_MS);
    const bindings = [expiredBefore, limit, MAX_REMOVED_BATCH_BYTES];
    const locked = await runStatement<{ id: string }>(trx, LOCK_OLD_SESSIONS, bindings);
    if (locked.length === 0) return 0;
    const ids = locked.map(({ id }) => id);
    await runStatement(trx, LOCK_EVENTS, [ids]);
    return (await erase(trx, ids)).sessions;
  });
}

export async function eraseSession(db: Knex, id: string): Promise<Erased & { keptAnswers: number }> {
  return await db.transaction(async (trx) => {
    const found = await CheckoutSession.query(trx).findById(id).select('status').forNoKeyUpdate();
    const session = requireFound(found, 'checkout session', id);
    if (!isOver(session)) {
      throw new Refusal(
        'parameter_invalid',
        `${id} is ${session.status}: only a session that is complete or expired can be erased. ${
          session.status === 'open'
            ? 'Have its merchant expire it first.'
            : 'Wait until its payment is decided.'
        }`,
      );
    }
    await runStatement(trx, LOCK_EVENTS, [[id]]);
    const [kept] = await runStatement<{ count: number }>(trx, ERASE_KEPT_ANSWERS, [id]);
    return { ...(await erase(trx, [id])), keptAnswers: kept?.count ?? 0 };
  });
}

async function erase(trx: Knex, ids: readonly string[]): Promise<Erased> {
  const [erased = NOTHING] = await runStatement<Erased>(trx, ERASE, [ids]);
  return erased;
}
