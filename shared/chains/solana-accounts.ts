import type { SignatureEntry } from './solana-rpc.js';

/** Fetching so many transactions is no reason to look for a quieter account. */
const FEW = 8;

/** The newest of what an account's transactions are, and how many of them would have to be read. */
export interface FirstPage {
  account: string;
  entries: readonly SignatureEntry[];
  candidates: number;
}

export function isQuiet(page: FirstPage, since: Date): boolean {
  return page.candidates <= FEW && reaches(page, since);
}

/** The one whose window takes the fewest reads, as far as the first pages show. */
export function quietest(pages: readonly [FirstPage, ...FirstPage[]], since: Date): FirstPage {
  return pages.reduce((best, page) => (reads(page, since) < reads(best, since) ? page : best));
}

/** One entry is less than any endpoint's page, so there are no more. */
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
