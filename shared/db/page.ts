import { noSuch, type Refusal } from '../domain/errors.js';
import { MAX_ENDPOINTS_PER_MODE } from '../domain/webhook-event.js';
import { ANSWER_PART_BYTES } from '../domain/weight.js';
import type { Knex } from './knex.js';
import type { Row } from './model-columns.js';
import { runStatement, type Statement } from './statement.js';
import type { Weighed } from './weighed-columns.js';

/**
 * Keyset pages: ids sort by creation, so a page is a range of an index that ends in the id, newest first.
 * `ending_before` reads upwards from its cursor and turns the page round, so both give the nearest page.
 * A cursor is a position in the list: it must name an object of it, whether or not the filter still fits.
 * A page is one statement, and holds at most a part of an answer: what is heavier than its share is only named in it.
 */
export interface PageRequest {
  /** Absent: everything. */
  limit: number | undefined;
  startingAfter: string | undefined;
  endingBefore: string | undefined;
}

export interface Page<T> {
  data: T[];
  /** More follow in the direction of travel. */
  hasMore: boolean;
}

export interface Listing<T> {
  /** Of its statement. */
  name: string;
  what: string;
  table: string;
  alias: string;
  /** Columns, FROM and JOINs; of weighed columns, for what each row may weigh. */
  select(share: number): string;
  /** Whose list it is, by the first of `values`: where a cursor must be found. */
  owned: string;
  /** By how many of them. Default account and mode. */
  ownerValues?: number;
  /** Whether whoever asks still may. */
  allowed: string;
  /** What else holds for every object in it. */
  always?: string;
  values: readonly unknown[];
  filters: readonly Filter[];
  read(row: Row): T;
}

export interface Filter {
  /** Of the alias's columns. */
  column: string;
  operator: '=' | '>=' | '<';
  value: unknown;
}

/** Ids from here on, and below there: `created` filters, since an id holds its time. */
export interface IdRange {
  lowestId: string | undefined;
  belowId: string | undefined;
}

export function idRange({ lowestId, belowId }: IdRange): Filter[] {
  return [
    { column: 'id', operator: '>=', value: lowestId },
    { column: 'id', operator: '<', value: belowId },
  ];
}

/** Those that were asked for. */
export function givenFilters(filters: readonly Filter[]): Filter[] {
  return filters.filter(({ value }) => value !== undefined);
}

/** More than any row has. */
const WHOLE = 2 ** 31 - 1;
const ACCOUNT_AND_MODE = 2;
/** Lists of these lengths are asked for again and again; the texts of others are not kept by any connection. */
const USUAL_LIMITS: readonly (number | undefined)[] = [undefined, 10, 100];

export async function readPage<T>(
  db: Knex,
  listing: Listing<T>,
  page: PageRequest,
  whenEmpty: () => Promise<void>,
): Promise<Page<Weighed<T>>> {
  const upwards = page.endingBefore !== undefined;
  const cursor = page.endingBefore ?? page.startingAfter;
  // Only webhook endpoints are listed without a limit.
  const share = Math.floor(ANSWER_PART_BYTES / (page.limit ?? MAX_ENDPOINTS_PER_MODE));
  const { statement, values } = writeStatement(listing, page, { cursor, upwards, share });
  const rows = await runStatement<Row>(db, statement, values);
  if (rows.length === 0) {
    // Asked before an empty page is believed.
    await whenEmpty();
    if (cursor !== undefined && !(await isInList(db, listing, cursor))) {
      throw noSuch(listing.what, cursor, upwards ? 'ending_before' : 'starting_after');
    }
  }
  const data = (page.limit === undefined ? rows : rows.slice(0, page.limit)).map((row) =>
    weighed(listing, row, share),
  );
  return { data: upwards ? data.reverse() : data, hasMore: rows.length > data.length };
}

export function weighed<T>(
  { alias, read }: Pick<Listing<T>, 'alias' | 'read'>,
  row: Row,
  share: number,
): Weighed<T> {
  const bytes = Number(row.bytes);
  return { id: String(row[`${alias}.id`]), bytes, object: bytes <= share ? read(row) : undefined };
}

/** Objects of a list, whole, however heavy, in the order of these ids. */
export async function readByIds<T>(
  db: Knex,
  { name, alias, select, owned, allowed, read, values }: Omit<Listing<T>, 'filters'>,
  ids: readonly string[],
  whenMissing: () => Promise<void>,
): Promise<T[]> {
  const text = `${select(WHOLE)} WHERE ${owned} AND ${allowed} AND ${alias}.id = ANY ($${values.length + 1}::text[])`;
  const rows = await runStatement<Row>(db, { name: `${name} by id`, text }, [...values, ids]);
  if (rows.length < ids.length) {
    await whenMissing();
    throw new Error(`${name}: of ${ids.length} objects ${rows.length} are left`);
  }
  const found = new Map(rows.map((row) => [row[`${alias}.id`], row]));
  return ids.flatMap((id) => {
    const row = found.get(id);
    return row === undefined ? [] : read(row);
  });
}

/** One object of a list, whole. */
export async function readById<T>(
  db: Knex,
  listing: Omit<Listing<T>, 'filters'>,
  id: string,
  whyMissing: () => Promise<Refusal>,
): Promise<T> {
  const [object] = await readByIds(db, listing, [id], async () => {
    throw await whyMissing();
  });
  if (object === undefined) throw new Error(`${listing.name}: it was found, and is not there`);
  return object;
}

/** The limit is a part of the text: Postgres plans for the first ten rows of an index otherwise than for all. */
function writeStatement<T>(
  listing: Listing<T>,
  { limit }: PageRequest,
  { cursor, upwards, share }: { cursor: string | undefined; upwards: boolean; share: number },
): { statement: Statement; values: unknown[] } {
  const { name, alias, select, owned, allowed, always = 'true', filters } = listing;
  const values = [...listing.values];
  const conditions = [owned, allowed, always];
  const variant = [name, limit ?? 'all'];
  for (const { column, operator, value } of filters) {
    variant.push(column + operator);
    conditions.push(`${alias}.${column} ${operator} $${values.push(value)}`);
  }
  if (cursor !== undefined) {
    variant.push(upwards ? 'up' : 'down');
    const bound = `$${values.push(cursor)}`;
    conditions.push(`${alias}.id ${upwards ? '>' : '<'} ${bound}`, `EXISTS (${inList(listing, bound)})`);
  }
  const text = `${select(share)} WHERE ${conditions.join(' AND ')}
    ORDER BY ${alias}.id ${upwards ? 'ASC' : 'DESC'}${limit === undefined ? '' : ` LIMIT ${limit + 1}`}`;
  return { statement: { name: USUAL_LIMITS.includes(limit) ? variant.join(' ') : undefined, text }, values };
}

function inList<T>({ table, alias, owned }: Listing<T>, id: string): string {
  return `SELECT FROM ${table} ${alias} WHERE ${alias}.id = ${id} AND ${owned}`;
}

async function isInList<T>(db: Knex, listing: Listing<T>, id: string): Promise<boolean> {
  const owners = listing.values.slice(0, listing.ownerValues ?? ACCOUNT_AND_MODE);
  const text = inList(listing, `$${owners.length + 1}`);
  return (await runStatement(db, { name: undefined, text }, [...owners, id])).length > 0;
}

/** The same for a list that is already in memory, oldest first, such as a session's line items. */
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
