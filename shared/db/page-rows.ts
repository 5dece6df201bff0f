import { ANSWER_PART_BYTES, MAX_ENDPOINTS_PER_MODE } from '../limits/bounds.js';
import { batchReads } from './batch-reads.js';
import type { Knex } from './knex.js';
import type { Listing, PageRequest } from './listing.js';
import type { Row } from './model-columns.js';
import { pageKind, pagesText, pageText, pageValues } from './page.sql.js';
import { runStatement } from './statement.js';

export interface PageRows {
  rows: Row[];
  /** What one of them may weigh, in bytes. */
  share: number;
}

type Values = readonly unknown[];
type ReadPage = (db: Knex, values: Values) => Promise<PageRows | undefined>;

/** Lists of these lengths are asked for again and again; the texts of others are not kept by any connection. */
const USUAL_LIMITS: readonly (number | undefined)[] = [undefined, 10, 100];
/** Pages share a statement as long as it has no more rows than a long page: so much is left for each to weigh. */
const MOST_ROWS = 100;
const NOTHING: PageRows = { rows: [], share: 0 };
const readers = new Map<string, ReadPage>();

/**
 * Plain pages of one kind that are asked for in the same moment share a statement. By which index those of a filter are
 * found best depends on its value: they are read alone, and Postgres plans as it likes.
 */
export async function readPageRows<T>(db: Knex, listing: Listing<T>, page: PageRequest): Promise<PageRows> {
  const values = pageValues(listing, page);
  const isUsual = USUAL_LIMITS.includes(page.limit);
  if (isUsual && listing.filters.length === 0) {
    const kind = pageKind(listing, page);
    const read = readers.get(kind) ?? readerOf(kind, listing, page);
    readers.set(kind, read);
    return (await read(db, values)) ?? NOTHING;
  }
  const share = shareOf(page);
  const text = pageText(listing, page, share);
  const name = isUsual ? pageKind(listing, page) : undefined;
  return { rows: await runStatement<Row>(db, { name, text }, values), share };
}

function readerOf<T>(kind: string, listing: Listing<T>, page: PageRequest): ReadPage {
  const statement = { name: `${kind} together`, text: pagesText(listing, page) };
  const most = Math.max(1, Math.floor(MOST_ROWS / rowsOf(page)));
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
    { most },
  );
}

function shareOf(page: PageRequest, pages = 1): number {
  return Math.floor(ANSWER_PART_BYTES / (rowsOf(page) * pages));
}

/** Only webhook endpoints are listed without a limit. */
function rowsOf({ limit }: PageRequest): number {
  return limit ?? MAX_ENDPOINTS_PER_MODE;
}
