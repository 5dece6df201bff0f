import { batchWrites } from '../db/batch-writes.js';
import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { now } from '../process/clock.js';
import { DELIVERY_MOVES, type DeliveryTry } from './event-types.js';
import { WebhookEndpoint } from './model.js';
import { SUCCEED, SUCCEED_AND_PASS_ON } from './statements/record-success.sql.js';
import {
  type Batch,
  leaseFrom,
  type NothingTaken,
  presentTaken,
  type TakenDelivery,
  type TakenRow,
} from './take-due.js';

/**
 * Writing successes, each while its attempt is the row's. One that was quick passes its place on: the statement that
 * ends its lease gives one to the next that is due to its endpoint, unless that has more on their way than it may have by
 * now. So no more are on their way than before, and nobody is waited for; while the endpoint is failing, and counts otherwise, it is left to
 * takeDueDeliveries. Successes of the same moment are written together.
 */
export interface Success {
  delivery: Pick<TakenDelivery, 'id' | 'attempt'> & { endpoint: { id: string } };
  entry: DeliveryTry;
  /** Its place may go to the next that is due to its endpoint, if that has no more; 0 when it may not. */
  bytesToPassOn: number;
}

/** What has been taken in its place; undefined when that is not passed on. */
export async function recordDelivered(db: Knex, success: Success): Promise<Batch | undefined> {
  const { endpointMustKnow, batch } = await succeedInGroup(db, success);
  // Not in the same statement: who holds a delivery does not wait for its endpoint.
  if (endpointMustKnow) {
    const news = { failingSince: null, succeededAt: now() };
    await WebhookEndpoint.query(db).findById(success.delivery.endpoint.id).patch(news);
  }
  return batch;
}

interface Succeeded {
  endpointMustKnow: boolean;
  batch: Batch | undefined;
}

const succeedInGroup = batchWrites<Success, Succeeded>({
  keyOf: ({ delivery }) => delivery.id,
  // Nobody waits for one, and in larger groups each costs less, here and in Postgres.
  enough: 25,
  together: succeedTogether,
  alone: succeedAlone,
  unclear: (_db, _success, error) => Promise.reject(error),
});

/** Undefined for those that were not quick, no longer theirs, or whose row somebody else holds. */
async function succeedTogether(db: Knex, successes: readonly Success[]): Promise<(Succeeded | undefined)[]> {
  const at = now();
  const rows = await runStatement<SucceededRow>(db, SUCCEED_AND_PASS_ON, [
    at,
    leaseFrom(at),
    quickLease(at),
    DELIVERY_MOVES.succeed.to,
    successes.map(({ delivery }) => delivery.id),
    successes.map(({ delivery }) => delivery.attempt),
    successes.map(({ entry }) => JSON.stringify(entry)),
    successes.map(({ bytesToPassOn }) => bytesToPassOn),
  ]);
  const rowOf = new Map(rows.map((row) => [row.succeededId, row]));
  return successes.map(({ delivery }) => {
    const row = rowOf.get(delivery.id);
    return row && { endpointMustKnow: row.endpointMustKnow, batch: batchOf(row, delivery.endpoint.id) };
  });
}

async function succeedAlone(db: Knex, { delivery, entry }: Success): Promise<Succeeded> {
  const { from, to } = DELIVERY_MOVES.succeed;
  const bindings = [delivery.id, delivery.attempt, JSON.stringify(entry), quickLease(now()), from, to];
  const [row] = await runStatement<{ endpointMustKnow: boolean }>(db, SUCCEED, bindings);
  return { endpointMustKnow: row?.endpointMustKnow ?? false, batch: undefined };
}

type SucceededRow = { succeededId: string; endpointMustKnow: boolean } & PlaceOf & (TakenRow | NothingTaken);

type PlaceOf = { isPassedOn: false } | PassedOn;

interface PassedOn {
  isPassedOn: true;
  accountId: string;
  url: string;
  host: string;
  places: number;
  sealedSecrets: string[];
  /** The next is too heavy for this place. */
  leavesHeavier: boolean;
}

function batchOf(row: SucceededRow, endpointId: string): Batch | undefined {
  if (!row.isPassedOn) return undefined;
  const { accountId, url, host, places, sealedSecrets } = row;
  const endpoint = { id: endpointId, accountId, url, host, places, sealedSecrets, failingSince: null };
  const deliveries = row.id === null ? [] : [presentTaken(row, endpoint)];
  return { deliveries, left: deliveries.length > 0 || row.leavesHeavier ? 'later' : 'nothing' };
}

const QUICK_MS = 1000;

/** What a try that has just been begun is leased for, less what counts as quick. */
function quickLease(at: Date): Date {
  return new Date(leaseFrom(at).getTime() - QUICK_MS);
}
