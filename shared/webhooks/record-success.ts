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
 * Writes successes, each only while its attempt is the row's. A quick success passes its slot on: the statement that ends
 * its lease takes the next delivery that is due to its endpoint, unless that has more in flight than it may have by now. So
 * no more are in flight than before, and no lock is waited for. A failing endpoint is left to takeDueDeliveries, which
 * counts its slots otherwise. Successes of the same moment are written together.
 */
export interface Success {
  delivery: Pick<TakenDelivery, 'id' | 'attempt'> & { endpoint: { id: string } };
  entry: DeliveryTry;
  /** Its slot may go to the next delivery due to its endpoint, of at most so many bytes; 0 when it may not. */
  bytesToPassOn: number;
}

/** Resolves with what was taken into its slot; undefined when the slot is not passed on. */
export async function recordDelivered(db: Knex, success: Success): Promise<Batch | undefined> {
  const { endpointMustKnow, batch } = await succeedInGroup(db, success);
  // Not in the same statement: a lock on a delivery never waits for its endpoint.
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
  // No caller waits for a single success, and in larger groups each costs less, here and in Postgres.
  sendAtItems: 25,
  writeBatch: succeedTogether,
  writeOne: succeedAlone,
  onBrokenConnection: (_db, _success, error) => Promise.reject(error),
});

/** Undefined for a success that was not quick, whose attempt is over, or whose row is locked. */
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

type SucceededRow = { succeededId: string; endpointMustKnow: boolean } & SlotOf & (TakenRow | NothingTaken);

type SlotOf = { isPassedOn: false } | PassedOn;

interface PassedOn {
  isPassedOn: true;
  accountId: string;
  url: string;
  host: string;
  slots: number;
  sealedSecrets: string[];
  /** A delivery that is due is too heavy for this slot. */
  leavesHeavier: boolean;
}

function batchOf(row: SucceededRow, endpointId: string): Batch | undefined {
  if (!row.isPassedOn) return undefined;
  const { accountId, url, host, slots, sealedSecrets } = row;
  const endpoint = { id: endpointId, accountId, url, host, slots, sealedSecrets, failingSince: null };
  const deliveries = row.id === null ? [] : [presentTaken(row, endpoint)];
  return { deliveries, left: deliveries.length > 0 || row.leavesHeavier ? 'later' : 'nothing' };
}

const QUICK_MS = 1000;

/** The lease of a try that starts now, less the time that counts as quick. */
function quickLease(at: Date): Date {
  return new Date(leaseFrom(at).getTime() - QUICK_MS);
}
