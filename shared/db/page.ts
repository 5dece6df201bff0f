import type { Model, QueryBuilder } from 'objection';
import { noSuch } from '../domain/errors.js';

/**
 * Keyset pages: ids sort by creation, so a page is a range of an index that ends in the id, newest first.
 * `ending_before` reads upwards from its cursor and turns the page round, so both give the nearest page.
 * A cursor is a position in the list: it must name an object of it, whether or not the filter still fits.
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

interface Listing<M extends Model> {
  query: QueryBuilder<M, M[]>;
  /** The same list without its filters: where a cursor must be found. */
  all: QueryBuilder<M, M[]>;
  what: string;
  page: PageRequest;
  /** Asked before an empty page is believed. */
  whenEmpty: () => Promise<void>;
}

export async function readPage<M extends Model>({
  query,
  all,
  what,
  page,
  whenEmpty,
}: Listing<M>): Promise<Page<M>> {
  const idColumn = `${query.modelClass().tableName}.id`;
  const upwards = page.endingBefore !== undefined;
  const cursor = page.endingBefore ?? page.startingAfter;
  if (cursor !== undefined) {
    query.where(idColumn, upwards ? '>' : '<', cursor).whereExists(all.clone().where('id', cursor));
  }
  query.orderBy(idColumn, upwards ? 'asc' : 'desc');
  if (page.limit !== undefined) query.limit(page.limit + 1);
  const rows = await query;
  if (rows.length === 0) {
    await whenEmpty();
    if (cursor !== undefined && (await all.where('id', cursor).first()) === undefined) {
      throw noSuch(what, cursor, upwards ? 'ending_before' : 'starting_after');
    }
  }
  const data = page.limit === undefined ? rows : rows.slice(0, page.limit);
  return { data: upwards ? data.reverse() : data, hasMore: rows.length > data.length };
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
