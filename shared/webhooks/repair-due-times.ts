import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { now } from '../process/clock.js';
import { LONGEST_PAUSES_MS } from './backoff.js';
import { REPAIR_DUE_TIMES } from './statements/repair-due-times.sql.js';
import { LEASE_MS } from './take-due.js';

/** Longer than the lease of a try and the pause of a delivery whose secret cannot be read. */
const LONGEST_LEASE_MS = Math.max(LEASE_MS, 60_000);
const PAGE = 5000;

interface PageEnd {
  endpointId: string;
  /** The time in Postgres' own text, since a Date has no microseconds. */
  dueAt: string;
  id: string;
}

const FIRST: PageEnd = { endpointId: '', dueAt: '-infinity', id: '' };

/** Makes deliveries due whose due time was written before Postgres' clock was set back: it lies too far ahead. */
export async function repairDueTimes(db: Knex, page = PAGE): Promise<void> {
  let end: PageEnd | undefined = FIRST;
  do {
    end = await repairPage(db, page, end);
  } while (end !== undefined);
}

/** Resolves with the end of the page, if there may be more. */
async function repairPage(
  db: Knex,
  page: number,
  { endpointId, dueAt, id }: PageEnd,
): Promise<PageEnd | undefined> {
  const bindings = [now(), LONGEST_LEASE_MS, LONGEST_PAUSES_MS, page, endpointId, dueAt, id];
  const [end] = await runStatement<PageEnd>(db, REPAIR_DUE_TIMES, bindings);
  return end;
}
