import { filterText, type Listing, type PageRequest } from './listing.js';

/** The parameters of a page's statement in order: the listing's values, the filters' values, the cursor. */
export function pageValues<T>(listing: Listing<T>, page: PageRequest): unknown[] {
  const cursor = cursorOf(page);
  return [
    ...listingValues(listing),
    ...listing.filters.map(({ value }) => value),
    ...(cursor === undefined ? [] : [cursor]),
  ];
}

export function listingValues<T>({ memberValues, readerValues }: Omit<Listing<T>, 'filters'>): unknown[] {
  return [...memberValues, ...readerValues];
}

/** Unfiltered pages of the same kind have the same statement text and differ in the parameters only. */
export function pageKind<T>({ name }: Listing<T>, page: PageRequest): string {
  const beyond = cursorOf(page) === undefined ? '' : ` ${directionOf(page)}`;
  return `${name} ${page.limit ?? 'all'}${beyond}`;
}

/** The limit is part of the text, not a parameter: Postgres plans the first ten rows of an index differently from all. */
export function pageText<T>(listing: Listing<T>, page: PageRequest, share: number | string): string {
  const { alias, select, readable, listed = 'true', filters } = listing;
  const conditions = [readable, listed];
  const values = listingValues(listing);
  for (const [index, filter] of filters.entries())
    conditions.push(filterText(alias, filter, `$${values.length + index + 1}`));
  const direction = directionOf(page);
  const cursor = cursorOf(page) === undefined ? undefined : `$${values.length + filters.length + 1}`;
  if (cursor !== undefined) conditions.push(`EXISTS (${objectText(listing, cursor)})`);
  const limit = page.limit === undefined ? '' : ` LIMIT ${page.limit + 1}`;
  if (filters.length === 0) {
    conditions.push(listing.member, rangeText(listing, direction, cursor));
    const order = [...listing.key.map(([column]) => column), 'id'];
    return `${select(share)} WHERE ${conditions.join(' AND ')}
    ORDER BY ${order.map((column) => `${alias}.${column} ${direction}`).join(', ')}${limit}`;
  }
  conditions.push(memberText(listing));
  if (cursor !== undefined) conditions.push(`${alias}.id ${BEYOND[direction]} ${cursor}`);
  return `${select(share)} WHERE ${conditions.join(' AND ')}
    ORDER BY ${alias}.id ${direction}${limit}`;
}

const BEYOND = { ASC: '>', DESC: '<' } as const;
/** Texts below and above the id of every object. */
const ENDS = { ASC: `''`, DESC: `'~'` } as const;

/**
 * The part of the list's index that is beyond the cursor. Postgres knows from an equality that it may walk the primary
 * key in its order and leave out other lists' rows, and does so where one list has nearly all rows. It then reads the
 * whole table for a list without any. Of a range it knows no such thing.
 */
function rangeText<T>(
  { alias, key: columns }: Listing<T>,
  direction: keyof typeof BEYOND,
  cursor: string | undefined,
): string {
  const back = direction === 'ASC' ? 'DESC' : 'ASC';
  const key = `(${[...columns.map(([column]) => column), 'id'].map((column) => `${alias}.${column}`).join(', ')})`;
  const at = (id: string): string => `(${[...columns.map(([, value]) => value), id].join(', ')})`;
  return `${key} ${BEYOND[direction]} ${at(cursor ?? ENDS[direction])} AND ${key} ${BEYOND[back]} ${at(ENDS[back])}`;
}

/** Whether an object is in the list. */
export function memberText<T>({ alias, key, member }: Pick<Listing<T>, 'alias' | 'key' | 'member'>): string {
  return [...key.map(([column, value]) => `${alias}.${column} = ${value}`), member].join(' AND ');
}

function directionOf({ endingBefore }: PageRequest): keyof typeof BEYOND {
  return endingBefore === undefined ? 'DESC' : 'ASC';
}

/**
 * Returns the text of a statement that reads several pages. Its parameters are arrays with one element per page: the share,
 * then the parameters of the page's own text. Each array is wrapped in a SELECT, which hides its length from the planner, so
 * that Postgres does not plan again for each length.
 */
export function pagesText<T>(listing: Listing<T>, page: PageRequest): string {
  const types = ['int', ...pageValues(listing, page).map(typeOf)];
  const arrays = types.map((type, index) => `(SELECT $${index + 1}::${type}[])`);
  const names = types.map((_, index) => (index === 0 ? 'share' : `value_${index}`));
  const one = pageText(listing, page, 'asked.share').replaceAll('$', 'asked.value_');
  return `
    SELECT page.*, asked.number::int AS "page.number"
    FROM unnest(${arrays.join(', ')}) WITH ORDINALITY AS asked (${names.join(', ')}, number)
    CROSS JOIN LATERAL (${one}) page
    ORDER BY asked.number, page."${listing.alias}.id" ${directionOf(page)}`;
}

/** Selects a row when the object with this id is in the list. */
export function objectText<T>(listing: Listing<T>, id: string): string {
  const { table, alias } = listing;
  return `SELECT FROM ${table} ${alias} WHERE ${alias}.id = ${id} AND ${memberText(listing)}`;
}

export function cursorOf({ startingAfter, endingBefore }: PageRequest): string | undefined {
  return endingBefore ?? startingAfter;
}

/** Parameters of lists are texts and the mode. */
function typeOf(value: unknown): string {
  return typeof value === 'boolean' ? 'boolean' : 'text';
}
