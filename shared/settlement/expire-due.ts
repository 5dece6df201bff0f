import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import type { JobName } from '../jobs/jobs.js';
import { MAX_EXPIRED_TOGETHER_BYTES } from '../limits/bounds.js';
import { SESSION_MOVES } from '../payables/states.js';
import { now } from '../process/clock.js';
import type { RingDeliveries } from '../queues/notify-deliveries.js';
import { takeOneApart, type WorkInHand } from '../upkeep/work-in-hand.js';
import { newId } from '../values/ids.js';
import { EXPIRE_IN_HAND, FIRST_OVERDUE, TAKE_OVERDUE } from './statements/expire-due.sql.js';

const WORK: JobName = 'expire-sessions';

interface ExpiryDeps {
  ringDeliveries: RingDeliveries;
}

/** Expires overdue sessions and refunds with their events, up to `limit`; any number of workers may do so at once. */
export async function expireOverdueSessions(db: Knex, limit: number, deps: ExpiryDeps): Promise<number> {
  const bindings = [now(), limit, MAX_EXPIRED_TOGETHER_BYTES, WORK];
  const [taken] = await runStatement<WorkInHand>(db, TAKE_OVERDUE, bindings);
  return taken === undefined ? 0 : await expireInHand(db, taken, deps);
}

/** One of those that workers died with; undefined when there is none whose time has come. */
export async function expireOneApart(db: Knex, deps: ExpiryDeps): Promise<number | undefined> {
  const taken = await takeOneApart(db, WORK);
  return taken && (await expireInHand(db, taken, deps));
}

async function expireInHand(
  db: Knex,
  { id, ids }: WorkInHand,
  { ringDeliveries }: ExpiryDeps,
): Promise<number> {
  const eventIds = ids.map(() => newId('evt_'));
  const bindings = [id, now(), eventIds, SESSION_MOVES.expire.from];
  const [expired] = await runStatement<Expired>(db, EXPIRE_IN_HAND, bindings);
  if (expired === undefined || expired.lastEventId === null) return 0;
  ringDeliveries({ eventId: expired.lastEventId, accountIds: expired.accountIds });
  return expired.count;
}

interface Expired {
  count: number;
  lastEventId: string | null;
  accountIds: string[];
}

export async function hasOverdueSessions(db: Knex): Promise<boolean> {
  return (await runStatement(db, FIRST_OVERDUE, [now()])).length > 0;
}
