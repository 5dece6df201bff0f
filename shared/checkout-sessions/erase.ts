import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { noSuch, Refusal } from '../errors/refusal.js';
import { MAX_REMOVED_BATCH_BYTES } from '../limits/bounds.js';
import { isOver } from '../payables/states.js';
import { nowMs } from '../process/clock.js';
import { CheckoutSession } from './model.js';
import { ERASE, ERASE_KEPT_ANSWERS, TAKE_NAMED } from './statements/erase.sql.js';

/**
 * What names a buyer is taken out of a session that is over and out of all that was copied from it: its events, what
 * their receivers answered, what is kept for Idempotency-Keys. What was paid, by which wallet and to whom, stays.
 * The session's row is held by a statement of its own: an event that was written just before is seen by the next one.
 */
export interface Erased {
  sessions: number;
  events: number;
  deliveryAnswers: number;
}

const DAY_MS = 24 * 3_600_000;
const NOTHING: Erased = { sessions: 0, events: 0, deliveryAnswers: 0 };

/** Of how many sessions that were over so many days ago, at most `limit`. */
export async function eraseOldSessions(db: Knex, days: number, limit: number): Promise<number> {
  return await db.transaction(async (trx) => {
    const over = new Date(nowMs() - days * DAY_MS);
    const named = await runStatement<{ id: string }>(trx, TAKE_NAMED, [over, limit, MAX_REMOVED_BATCH_BYTES]);
    if (named.length === 0) return 0;
    const { sessions } = await erase(
      trx,
      named.map(({ id }) => id),
    );
    return sessions;
  });
}

/** One session, at once. */
export async function eraseSession(db: Knex, id: string): Promise<Erased & { keptAnswers: number }> {
  return await db.transaction(async (trx) => {
    const session = await CheckoutSession.query(trx).findById(id).select('status').forNoKeyUpdate();
    if (session === undefined) throw noSuch('checkout session', id);
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
    const [kept] = await runStatement<{ count: number }>(trx, ERASE_KEPT_ANSWERS, [id]);
    return { ...(await erase(trx, [id])), keptAnswers: kept?.count ?? 0 };
  });
}

async function erase(trx: Knex, ids: readonly string[]): Promise<Erased> {
  const [erased = NOTHING] = await runStatement<Erased>(trx, ERASE, [ids]);
  return erased;
}
