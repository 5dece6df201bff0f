import { noSuch, Refusal } from '../errors/refusal.js';
import type { Knex } from './knex.js';
import type { Listing, Page, PageRequest } from './listing.js';
import type { Row } from './model-columns.js';
import { cursorOf, listingValues, memberText, objectText } from './page.sql.js';
import { readPageRows } from './page-rows.js';
import type { Sized } from './sized-columns.js';
import { runStatement } from './statement.js';

/** A share that every row fits into. */
const UNLIMITED_SHARE = 2 ** 31 - 1;

export async function readPage<T>(
  db: Knex,
  listing: Listing<T>,
  page: PageRequest,
  whenEmpty: () => Promise<void>,
): Promise<Page<Sized<T>>> {
  const { rows, share } = await readPageRows(db, listing, page);
  if (rows.length === 0) {
    // Tells a revoked key from an empty list.
    await whenEmpty();
    const cursor = cursorOf(page);
    if (cursor !== undefined && !(await isInList(db, listing, cursor))) {
      throw noSuch(
        listing.what,
        cursor,
        page.endingBefore === undefined ? 'starting_after' : 'ending_before',
      );
    }
  }
  const data = (page.limit === undefined ? rows : rows.slice(0, page.limit)).map((row) =>
    readSized(listing, row, share),
  );
  return {
    data: page.endingBefore === undefined ? data : data.reverse(),
    hasMore: rows.length > data.length,
  };
}

export function readSized<T>(
  { alias, read }: Pick<Listing<T>, 'alias' | 'read'>,
  row: Row,
  share: number,
): Sized<T> {
  const bytes = Number(row.bytes);
  return { id: String(row[`${alias}.id`]), bytes, object: bytes <= share ? read(row) : undefined };
}

/** Objects of a list in the order of `ids`, of any size. */
export async function readByIds<T>(
  db: Knex,
  listing: Omit<Listing<T>, 'filters'>,
  ids: readonly string[],
  whenMissing: () => Promise<void>,
): Promise<T[]> {
  const { name, alias, select, readable, read } = listing;
  const values = listingValues(listing);
  const text = `${select(UNLIMITED_SHARE)} WHERE ${memberText(listing)} AND ${readable} AND ${alias}.id = ANY ($${values.length + 1}::text[])`;
  const rows = await runStatement<Row>(db, { name: `${name} by id`, text }, [...values, ids]);
  if (rows.length < ids.length) {
    await whenMissing();
    // A standby may lack objects that the primary has listed. Its reader then asks the primary, which lacks only archived
    // and deleted objects.
    throw new Refusal(
      'service_unavailable',
      'An object was deleted or archived while it was read. Send the request again.',
      { retryAfterSeconds: 1 },
    );
  }
  const found = new Map(rows.map((row) => [row[`${alias}.id`], row]));
  return ids.flatMap((id) => {
    const row = found.get(id);
    return row === undefined ? [] : read(row);
  });
}

/** Reads one object of a list, of any size. */
export async function readById<T>(
  db: Knex,
  listing: Omit<Listing<T>, 'filters'>,
  id: string,
  whyMissing: () => Promise<Refusal>,
): Promise<T> {
  const [object] = await readByIds(db, listing, [id], async () => {
    throw await whyMissing();
  });
  if (object === undefined) throw new Error(`${listing.name}: the object disappeared`);
  return object;
}

async function isInList<T>(db: Knex, listing: Listing<T>, id: string): Promise<boolean> {
  const { memberValues } = listing;
  const text = objectText(listing, `$${memberValues.length + 1}`);
  return (await runStatement(db, { text }, [...memberValues, id])).length > 0;
}

/** A page of a list in memory, oldest first, such as a session's line items. */
export function pageOf<T extends { id: string }>(
  items: readonly T[],
  what: string,
  page: PageRequest,
): Page<T> {
  const position = (id: string, param: string): number => {
    const index = items.findIndex((item) => item.id === id);
    if (index === -1) throw noSuch(what, id, param);
    return index;
  };
  const limit = page.limit ?? items.length;
  if (page.endingBefore !== undefined) {
    const end = position(page.endingBefore, 'ending_before');
    const start = Math.max(0, end - limit);
    return { data: items.slice(start, end), hasMore: start > 0 };
  }
  const start = page.startingAfter === undefined ? 0 : position(page.startingAfter, 'starting_after') + 1;
  return { data: items.slice(start, start + limit), hasMore: start + limit < items.length };
}
