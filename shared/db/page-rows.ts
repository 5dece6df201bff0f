import { ANSWER_PART_BYTES, MAX_ENDPOINTS_PER_MODE } from '../limits/bounds.js';
import { batchReads } from './batch-reads.js';
import type { Knex } from './knex.js';
import type { Listing, PageRequest } from './listing.js';
import type { Row } from './model-columns.js';
import { pageKind, pagesText, pageText, pageValues } from './page.sql.js';
import { runStatement } from './statement.js';

interface PageRows {
  rows: Row[];
  /** The byte budget of one row. */
  share: number;
}

type Values = readonly unknown[];
type ReadPage = (db: Knex, values: Values) => Promise<PageRows | undefined>;

/** Unfiltered pages with these limits are prepared; other limits are rare. */
const COMMON_LIMITS: readonly (number | undefined)[] = [undefined, 10, 100];
/** Rows of all pages that share a statement, so that each row's share of the byte budget stays large enough. */
const MAX_ROWS = 100;
const EMPTY: PageRows = { rows: [], share: 0 };
const readers = new Map<string, ReadPage>();

/**
 * Unfiltered pages of one kind that are read in the same turn of the event loop share a statement. Filtered pages do not,
 * and are not prepared: the best index depends on the filter's value, and Postgres keeps one plan for all values of a
 * statement that was prepared and executed a few times.
 */
export async function readPageRows<T>(db: Knex, listing: Listing<T>, page: PageRequest): Promise<PageRows> {
  const values = pageValues(listing, page);
  if (COMMON_LIMITS.includes(page.limit) && listing.filters.length === 0) {
    const kind = pageKind(listing, page);
    const read = readers.get(kind) ?? readerOf(kind, listing, page);
    readers.set(kind, read);
    return (await read(db, values)) ?? EMPTY;
  }
  const share = shareOf(page);
  const statement = { text: pageText(listing, page, share) };
  return { rows: await runStatement<Row>(db, statement, values), share };
}

function readerOf<T>(kind: string, listing: Listing<T>, page: PageRequest): ReadPage {
  const statement = { name: `${kind} together`, text: pagesText(listing, page) };
  const maxKeys = Math.max(1, Math.floor(MAX_ROWS / rowsOf(page)));
  return batchReads<Values, PageRows>(
    async (db, asked) => {
      const share = shareOf(page, asked.length);
      const pages = asked.map((): PageRows => ({ rows: [], share }));
      const [first = []] = asked;
      const arrays = first.map((_, index) => asked.map((values) => values[index]));
      const rows = await runStatement<Row>(db, statement, [asked.map(() => share), ...arrays]);
      for (const row of rows) pages[Number(row['page.number']) - 1]?.rows.push(row);
      return pages;
    },
    { maxKeys },
  );
}

function shareOf(page: PageRequest, pages = 1): number {
  return Math.floor(ANSWER_PART_BYTES / (rowsOf(page) * pages));
}

/** Webhook endpoints are the only list without a limit. */
function rowsOf({ limit }: PageRequest): number {
  return limit ?? MAX_ENDPOINTS_PER_MODE;
}
