import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { type JobName, LATE_MS } from '../jobs/jobs.js';
import { MAX_EXPIRED_BATCH_BYTES, MAX_EXPIRED_BATCH_DELIVERIES } from '../limits/bounds.js';
import { PAYABLE_MOVES } from '../payables/states.js';
import { certainNow, now } from '../process/clock.js';
import type { NotifyDeliveries } from '../queues/delivery-notifier.js';
import { takeOneQuarantined, type WorkInFlight } from '../upkeep/work-in-flight.js';
import { newId } from '../values/ids.js';
import { EXPIRE_IN_FLIGHT, FIRST_OVERDUE, TAKE_OVERDUE } from './statements/expire-overdue.sql.js';

const WORK: JobName = 'expire-sessions';

interface ExpiryDeps {
  notifyDeliveries: NotifyDeliveries;
}

/**
 * Expires overdue sessions and refunds with their events, up to `limit`; any number of workers may do so at once. An expiry
 * cannot be taken back, so a session is overdue only when both clocks say so.
 */
export async function expireOverdueSessions(db: Knex, limit: number, deps: ExpiryDeps): Promise<number> {
  const bindings = [certainNow(), limit, MAX_EXPIRED_BATCH_BYTES, WORK, now(), MAX_EXPIRED_BATCH_DELIVERIES];
  const [taken] = await runStatement<WorkInFlight>(db, TAKE_OVERDUE, bindings);
  return taken === undefined ? 0 : await expireInFlight(db, taken, deps);
}

/** Expires one quarantined batch; undefined when none is due. */
export async function expireOneQuarantined(db: Knex, deps: ExpiryDeps): Promise<number | undefined> {
  const taken = await takeOneQuarantined(db, WORK);
  return taken && (await expireInFlight(db, taken, deps));
}

async function expireInFlight(
  db: Knex,
  { id, ids }: WorkInFlight,
  { notifyDeliveries }: ExpiryDeps,
): Promise<number> {
  const eventIds = ids.map(() => newId('evt_'));
  const bindings = [id, now(), eventIds, PAYABLE_MOVES.expire.from];
  const [expired] = await runStatement<Expired>(db, EXPIRE_IN_FLIGHT, bindings);
  if (expired === undefined || expired.lastEventId === null) return 0;
  notifyDeliveries({ eventId: expired.lastEventId, accountIds: expired.accountIds });
  return expired.count;
}

interface Expired {
  count: number;
  lastEventId: string | null;
  accountIds: string[];
}

/** `late`: no worker has taken one in the LATE_MS since it was overdue. */
type Overdue = 'none' | 'some' | 'late';

export async function findOverdueSessions(db: Knex): Promise<Overdue> {
  const certain = certainNow();
  const bindings = [certain, new Date(certain.getTime() - LATE_MS), WORK];
  const [first] = await runStatement<{ isLate: boolean }>(db, FIRST_OVERDUE, bindings);
  if (first === undefined) return 'none';
  return first.isLate ? 'late' : 'some';
}
