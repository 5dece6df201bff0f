import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { noSuch } from '../errors/refusal.js';
import { now } from '../process/clock.js';
import { createdAt, lowestIdAt, newId } from '../values/ids.js';
import type { EventType } from './event-types.js';
import { WebhookDelivery, WebhookEndpoint } from './model.js';
import { EVENTS_BY_TIME, RECEIVERS_OF_EVENTS } from './statements/resend-since.sql.js';

/** Events of this range are sent again to the enabled endpoints that subscribe to their type now. */
export interface ResendRange {
  since: Date;
  until: Date;
  accountId: string | undefined;
  endpointId: string | undefined;
  type: EventType | undefined;
}

export interface ResentCount {
  events: number;
  deliveries: number;
  /** The creation time of the last event that was sent again; all earlier ones of the range were, too. */
  through: Date | undefined;
}

/** Events in one transaction; each has at most as many deliveries as its account and mode has endpoints. */
const BATCH_EVENTS = 200;

/**
 * Writes new deliveries of the events of a time, the oldest first, in batches that commit by themselves. `count` is kept up
 * to date, so that the caller knows where an error has stopped it.
 */
export async function resendEventsSince(db: Knex, range: ResendRange, count: ResentCount): Promise<void> {
  const endpoint = range.endpointId === undefined ? undefined : await findEnabled(db, range.endpointId);
  const accountId = endpoint?.accountId ?? range.accountId ?? null;
  if (range.accountId !== undefined && accountId !== range.accountId)
    throw noSuch('webhook endpoint of that account', range.endpointId ?? '');
  const below = lowestIdAt('evt_', range.until.getTime());
  let after = lowestIdAt('evt_', range.since.getTime());
  for (;;) {
    const values = [after, below, accountId, endpoint?.livemode ?? null, range.type ?? null, BATCH_EVENTS];
    const ids = (await runStatement<{ id: string }>(db, EVENTS_BY_TIME, values)).map(({ id }) => id);
    const last = ids.at(-1);
    if (last === undefined) return;
    count.deliveries += await deliver(db, ids, endpoint?.id);
    count.events += ids.length;
    count.through = createdAt(last);
    after = last;
  }
}

async function findEnabled(db: Knex, id: string): Promise<WebhookEndpoint> {
  const endpoint = await WebhookEndpoint.query(db)
    .findById(id)
    .where('status', 'enabled')
    .whereNull('deletedAt');
  if (endpoint === undefined) throw noSuch('enabled webhook endpoint', id);
  return endpoint;
}

async function deliver(
  db: Knex,
  eventIds: readonly string[],
  endpointId: string | undefined,
): Promise<number> {
  const pairs = await runStatement<{ eventId: string; endpointId: string }>(db, RECEIVERS_OF_EVENTS, [
    eventIds,
    endpointId ?? null,
  ]);
  if (pairs.length === 0) return 0;
  const dueAt = now();
  await WebhookDelivery.query(db).insert(
    pairs.map((pair) => ({ id: newId('wd_'), ...pair, status: 'pending' as const, dueAt })),
  );
  return pairs.length;
}
