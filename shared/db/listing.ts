import type { Row } from './model-columns.js';

/**
 * Keyset pages: ids sort by creation, so a page is a range of an index that ends in the id, newest first.
 * `ending_before` reads upwards from its cursor and reverses the page, so both directions give the nearest page.
 * A cursor must name an object of the list, but the object need not match the filters.
 * The objects of a page share a byte budget (`share` each): an object above its share is returned by id only.
 */
export interface PageRequest {
  /** Undefined: no limit. */
  limit: number | undefined;
  startingAfter: string | undefined;
  endingBefore: string | undefined;
}

export interface Page<T> {
  data: T[];
  /** More objects follow in the direction of the page. */
  hasMore: boolean;
}

export interface Listing<T> {
  /** The prefix of its statements' names. */
  name: string;
  /** The name of an object in refusals, such as `payment`. */
  what: string;
  table: string;
  alias: string;
  /** Columns, FROM and JOINs. Sized columns are read for rows of at most `share` bytes. */
  select(share: number | string): string;
  /** The columns that the list's index has before the id, each with its value. */
  key: readonly (readonly [column: string, value: string])[];
  /** A further SQL condition. The object of a cursor meets `key` and `member`, and need not meet the conditions below. */
  member: string;
  /** The values of `key` and `member`: $1 and on. */
  memberValues: readonly unknown[];
  /** An SQL condition for the permission of the reader, such as an active API key. */
  readable: string;
  /** The values of `readable`, numbered after those of the members. */
  readerValues: readonly unknown[];
  /** A further SQL condition for objects on pages. */
  listed?: string;
  filters: readonly Filter[];
  read(row: Row): T;
}

export interface Filter {
  /** A column of `alias`. */
  column: string;
  /** `~`: the first ALIKE_CHARACTERS are equal whatever their case. Texts of any length have indexes on these. */
  operator: '=' | '>=' | '<' | '~';
  value: unknown;
  /** The SQL of an array, made of the value's SQL: the column equals one of its elements. */
  among?: (value: string) => string;
}

const ALIKE_CHARACTERS = 128;

/** An SQL condition; `value` is the SQL of the filter's value. */
export function filterText(alias: string, { column, operator, among }: Filter, value: string): string {
  const of = `${alias}.${column}`;
  if (among !== undefined) return `${of} = ANY(${among(value)})`;
  return operator === '~' ? `${alike(of)} = ${alike(value)}` : `${of} ${operator} ${value}`;
}

/** Texts are alike when their first ALIKE_CHARACTERS are equal whatever their case. */
export function alike(text: string): string {
  return `lower(left(${text}, ${ALIKE_CHARACTERS}))`;
}

/** Filters by `created` are ranges of ids, since an id holds its creation time. */
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

/** The filters that have a value. */
export function givenFilters(filters: readonly Filter[]): Filter[] {
  return filters.filter(({ value }) => value !== undefined);
}
