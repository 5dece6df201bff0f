import type { Row } from './model-columns.js';

/**
 * Keyset pages: ids sort by creation, so a page is a range of an index that ends in the id, newest first.
 * `ending_before` reads upwards from its cursor and turns the page round, so both give the nearest page.
 * A cursor is a position in the list: it must name an object of it, whether or not the filter still fits.
 * A page is one statement or a part of one, and holds at most a part of an answer: what is heavier than its share is only
 * named in it.
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
  select(share: number | string): string;
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
