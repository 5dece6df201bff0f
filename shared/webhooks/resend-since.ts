import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { noSuch, requireFound } from '../errors/refusal.js';
import { now } from '../process/clock.js';
import { createdAt, lowestIdAt, newIdStart } from '../values/ids.js';
import { idsWithin } from '../values/in-groups.js';
import type { EventType } from './event-types.js';
import { WebhookEndpoint } from './model.js';
import { COUNT_RECEIVERS, EVENTS_BY_TIME, RESEND_EVENTS } from './statements/resend-since.sql.js';

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
  /** The number of events in the statement that Postgres has not answered. */
  unanswered: number;
}

/** One statement writes the deliveries of so many events at most, and of one event however many endpoints its account has. */
const BATCH_EVENTS = 200;
const BATCH_DELIVERIES = 10_000;

/** The one endpoint of the range; undefined when the range is for every endpoint. */
export async function getReceiver(
  db: Knex,
  { accountId, endpointId }: ResendRange,
): Promise<WebhookEndpoint | undefined> {
  if (endpointId === undefined) return undefined;
  const endpoint = await findEnabled(db, endpointId);
  if (accountId !== undefined && endpoint.accountId !== accountId)
    throw noSuch('webhook endpoint of that account', endpointId);
  return endpoint;
}

/**
 * Writes new deliveries of the events in the range, the oldest first, in batches that commit by themselves. `endpoint` is the
 * range's. `count` is kept up to date, so that the caller knows where an error has stopped it.
 */
export async function resendEventsSince(
  db: Knex,
  range: ResendRange,
  endpoint: WebhookEndpoint | undefined,
  count: ResentCount,
): Promise<void> {
  const accountId = endpoint?.accountId ?? range.accountId ?? null;
  const below = lowestIdAt('evt_', range.until.getTime());
  let after = lowestIdAt('evt_', range.since.getTime());
  for (;;) {
    const values = [after, below, accountId, endpoint?.livemode ?? null, range.type ?? null, BATCH_EVENTS];
    const ids = (await runStatement<{ id: string }>(db, EVENTS_BY_TIME, values)).map(({ id }) => id);
    const last = ids.at(-1);
    if (last === undefined) return;
    for (const batch of await splitByDeliveries(db, ids, endpoint?.id)) {
      count.unanswered = batch.length;
      count.deliveries += await writeDeliveries(db, batch, endpoint?.id);
      count.unanswered = 0;
      count.events += batch.length;
      count.through = createdAt(batch.at(-1) ?? last);
    }
    after = last;
  }
}

async function findEnabled(db: Knex, id: string): Promise<WebhookEndpoint> {
  const endpoint = await WebhookEndpoint.query(db)
    .findById(id)
    .where('status', 'enabled')
    .whereNull('deletedAt');
  return requireFound(endpoint, 'enabled webhook endpoint', id);
}

/** Batches with at most BATCH_DELIVERIES, and with one event at least. An endpoint added meanwhile makes them a little larger. */
async function splitByDeliveries(
  db: Knex,
  eventIds: readonly string[],
  endpointId: string | undefined,
): Promise<string[][]> {
  const bindings = [eventIds, endpointId ?? null];
  const rows = await runStatement<{ id: string; receivers: number }>(db, COUNT_RECEIVERS, bindings);
  return idsWithin(rows, BATCH_DELIVERIES, ({ receivers }) => receivers);
}

async function writeDeliveries(
  db: Knex,
  eventIds: readonly string[],
  endpointId: string | undefined,
): Promise<number> {
  const bindings = [eventIds, endpointId ?? null, now(), newIdStart('wd_')];
  const [row] = await runStatement<{ deliveries: number }>(db, RESEND_EVENTS, bindings);
  return row?.deliveries ?? 0;
}
