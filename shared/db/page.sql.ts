import { filterText, type Listing, type PageRequest } from './listing.js';

/** The parameters of a page's statement in order: the listing's values, the filters' values, the cursor. */
export function pageValues<T>({ values, filters }: Listing<T>, page: PageRequest): unknown[] {
  const cursor = cursorOf(page);
  return [...values, ...filters.map(({ value }) => value), ...(cursor === undefined ? [] : [cursor])];
}

/** Pages of the same kind have the same statement text and differ in the parameters only. */
export function pageKind<T>({ name, filters }: Listing<T>, page: PageRequest): string {
  const filtered = filters.map(({ column, operator }) => ` ${column}${operator}`).join('');
  const beyond = cursorOf(page) === undefined ? '' : ` ${directionOf(page)}`;
  return `${name} ${page.limit ?? 'all'}${filtered}${beyond}`;
}

/** The limit is part of the text, not a parameter: Postgres plans the first ten rows of an index differently from all. */
export function pageText<T>(listing: Listing<T>, page: PageRequest, share: number | string): string {
  const { alias, select, owned, allowed, always = 'true', filters, values } = listing;
  const conditions = [owned, allowed, always];
  for (const [index, filter] of filters.entries())
    conditions.push(filterText(alias, filter, `$${values.length + index + 1}`));
  if (cursorOf(page) !== undefined) {
    const cursor = `$${values.length + filters.length + 1}`;
    conditions.push(
      `${alias}.id ${directionOf(page) === 'ASC' ? '>' : '<'} ${cursor}`,
      `EXISTS (${objectText(listing, cursor)})`,
    );
  }
  const limit = page.limit === undefined ? '' : ` LIMIT ${page.limit + 1}`;
  return `${select(share)} WHERE ${conditions.join(' AND ')}
    ORDER BY ${alias}.id ${directionOf(page)}${limit}`;
}

function directionOf({ endingBefore }: PageRequest): 'ASC' | 'DESC' {
  return endingBefore === undefined ? 'DESC' : 'ASC';
}

/**
 * Several pages in one statement. Its parameters are arrays with one element per page: the share, then the parameters of
 * the page's own text. Each array is wrapped in a SELECT, which hides its length from the planner, so that Postgres does
 * not plan again for each length.
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
export function objectText<T>({ table, alias, owned }: Listing<T>, id: string): string {
  return `SELECT FROM ${table} ${alias} WHERE ${alias}.id = ${id} AND ${owned}`;
}

export function cursorOf({ startingAfter, endingBefore }: PageRequest): string | undefined {
  return endingBefore ?? startingAfter;
}

/** Parameters of lists are texts and the mode. */
function typeOf(value: unknown): string {
  return typeof value === 'boolean' ? 'boolean' : 'text';
}
