import type { SignatureEntry } from './solana-rpc.js';

/** With at most this many transactions to fetch, no other account is considered. */
const FEW_READS = 8;

/** The newest transactions of an account. */
export interface FirstPage {
  account: string;
  entries: readonly SignatureEntry[];
  /** How many of the entries have to be read. */
  candidates: number;
}

export function isShort(page: FirstPage, since: Date): boolean {
  return page.candidates <= FEW_READS && reaches(page, since);
}

/** The account whose search takes the fewest reads, estimated from the first pages. */
export function shortest(pages: readonly [FirstPage, ...FirstPage[]], since: Date): FirstPage {
  return pages.reduce((best, page) => (reads(page, since) < reads(best, since) ? page : best));
}

/** A page of one entry is the last: no endpoint's pages are that short. */
function reaches({ entries }: FirstPage, since: Date): boolean {
  const oldest = entries.at(-1)?.blockTime;
  return entries.length <= 1 || (oldest !== undefined && oldest < since);
}

function reads(page: FirstPage, since: Date): number {
  if (reaches(page, since)) return page.candidates;
  const newest = page.entries[0]?.blockTime?.getTime() ?? 0;
  const oldest = page.entries.at(-1)?.blockTime?.getTime() ?? 0;
  const pages = Math.max(newest - since.getTime(), 0) / Math.max(newest - oldest, 1);
  return (page.candidates + 1) * Math.max(pages, 1);
}
