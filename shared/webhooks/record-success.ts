import { batchWrites } from '../db/batch-writes.js';
import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { certainNow, now } from '../process/clock.js';
import { WebhookEndpoint } from './model.js';
import { SUCCEED, SUCCEED_AND_PASS_ON } from './statements/record-success.sql.js';
import { DELIVERY_MOVES, type DeliveryTry } from './states.js';
import {
  type Batch,
  leaseFrom,
  type NothingTaken,
  type TakenDelivery,
  type TakenRow,
  takenDelivery,
} from './take-due.js';

interface Success {
  delivery: Pick<TakenDelivery, 'id' | 'attempt'> & { endpoint: { id: string } };
  entry: DeliveryTry;
  /** The most bytes that the next delivery in this slot may have; 0 when the slot must not be passed on. */
  bytesToPassOn: number;
}

/**
 * Writes successes, each only while the row has the attempt number of the try. A quick success passes its slot on: the
 * statement that ends its lease takes the next due delivery of the endpoint, unless the endpoint has more in flight than
 * its slots. So the number in flight does not grow, and the statement waits for no lock. Slots of a failing endpoint are not
 * passed on, since takeDueDeliveries counts them differently. Successes of the same moment are written as a batch.
 * Resolves with the delivery taken into the slot, if one was due; undefined when the slot is not passed on.
 */
export async function recordSuccess(db: Knex, success: Success): Promise<Batch | undefined> {
  const { updatesEndpoint, batch } = await succeedInBatch(db, success);
  // A statement of its own: a transaction that holds a delivery's lock must not wait for its endpoint's.
  if (updatesEndpoint) {
    const patch = { failingSince: null, succeededAt: now() };
    await WebhookEndpoint.query(db).findById(success.delivery.endpoint.id).patch(patch);
  }
  return batch;
}

interface Succeeded {
  updatesEndpoint: boolean;
  batch: Batch | undefined;
}

const succeedInBatch = batchWrites<Success, Succeeded>({
  keyOf: ({ delivery }) => delivery.id,
  // No caller waits for a single success, and in larger batches each success costs less CPU, here and in Postgres.
  sendAtItems: 25,
  writeBatch: succeedTogether,
  writeOne: succeedAlone,
});

/** Gives undefined for a success that was not quick, whose attempt is over, or whose row is locked: succeedAlone writes it. */
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
    certainNow(),
  ]);
  const rowOf = new Map(rows.map((row) => [row.succeededId, row]));
  return successes.map(({ delivery }) => {
    const row = rowOf.get(delivery.id);
    return row && { updatesEndpoint: row.updatesEndpoint, batch: batchOf(row, delivery.endpoint.id) };
  });
}

async function succeedAlone(db: Knex, { delivery, entry }: Success): Promise<Succeeded> {
  const { from, to } = DELIVERY_MOVES.succeed;
  const bindings = [delivery.id, delivery.attempt, JSON.stringify(entry), quickLease(now()), from, to];
  const [row] = await runStatement<{ updatesEndpoint: boolean }>(db, SUCCEED, bindings);
  return { updatesEndpoint: row?.updatesEndpoint ?? false, batch: undefined };
}

type SucceededRow = { succeededId: string; updatesEndpoint: boolean } & SlotRow & (TakenRow | NothingTaken);

type SlotRow = { isPassedOn: false } | PassedOn;

interface PassedOn {
  isPassedOn: true;
  accountId: string;
  url: string;
  host: string;
  slots: number;
  sealedSecrets: string[];
  /** A due delivery has too many bytes for this slot. */
  leavesHeavier: boolean;
}

function batchOf(row: SucceededRow, endpointId: string): Batch | undefined {
  if (!row.isPassedOn) return undefined;
  const { accountId, url, host, slots, sealedSecrets } = row;
  const endpoint = { id: endpointId, accountId, url, host, slots, sealedSecrets, failingSince: null };
  const deliveries = row.id === null ? [] : [takenDelivery(row, endpoint)];
  return { deliveries, left: deliveries.length > 0 || row.leavesHeavier ? 'later' : 'nothing' };
}

const QUICK_MS = 1000;

/** A try was quick when its lease ends later than this. */
function quickLease(at: Date): Date {
  return new Date(leaseFrom(at).getTime() - QUICK_MS);
}
