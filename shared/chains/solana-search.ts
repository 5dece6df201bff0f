import type { LRUCache } from 'lru-cache';
import type { ChainFinding } from './finding.js';
import { LaggingNode, untilCaughtUp } from './lagging.js';
import type { Look } from './look.js';
import { readRefusal } from './refusal.js';
import { type FirstPage, isQuiet, quietest } from './solana-accounts.js';
import { hashMessage, hasOtherMemo, type SignedMessage } from './solana-message.js';
import { advance, beginningOf, type ListPosition, presentBeginning, type SolanaPass } from './solana-pass.js';
import type { LandedTransaction, SignatureEntry, SolanaRpc } from './solana-rpc.js';

const FETCHED_AT_ONCE = 5;

/** What is known of one endpoint, from look to look. */
export interface SolanaEndpointMemory {
  /** Transactions' messages, by hash: the same ones are come upon again and again. */
  messages: LRUCache<string, string>;
}

export interface SolanaSearch {
  rpc: SolanaRpc;
  look: Look;
  message: SignedMessage;
  memory: SolanaEndpointMemory;
  /** Did not land before. */
  since: Date;
  judge: Judge;
}

/** Undefined when it is another message. */
export type Judge = (signature: string, landed: LandedTransaction) => Promise<ChainFinding | undefined>;

/** Chooses the quietest of the accounts, each of which is in the transaction, by the first page of each. */
export async function chooseList(
  search: SolanaSearch,
  accounts: readonly string[],
  rootSlot: number,
  isFinal: boolean,
): Promise<{ beginning: ListPosition; page: readonly SignatureEntry[] }> {
  const [first = '', ...others] = accounts;
  const read = async (account: string): Promise<FirstPage> => {
    const beginning = beginningOf(account, rootSlot, isFinal);
    const entries = await readPage(search, beginning);
    return {
      account,
      entries,
      candidates: entries.filter((entry) => isCandidate(search, beginning, entry)).length,
    };
  };
  const firstPage = await read(first);
  let chosen = firstPage;
  if (!isQuiet(firstPage, search.since)) {
    // One that cannot be listed is none to choose.
    const pages = await Promise.allSettled(others.map(read));
    const readable = pages.flatMap((page) => (page.status === 'fulfilled' ? [page.value] : []));
    chosen = quietest([firstPage, ...readable], search.since);
  }
  return { beginning: beginningOf(chosen.account, rootSlot, isFinal), page: chosen.entries };
}

/**
 * Goes on with a pass to its end; undefined when it has not found the payment in all that the account had since the
 * window's start. It moves `pass`, also when it throws.
 */
export async function scanHistory(
  search: SolanaSearch,
  pass: SolanaPass,
  firstPage: readonly SignatureEntry[],
): Promise<ChainFinding | undefined> {
  let page = firstPage;
  for (;;) {
    const lastAt = page.findIndex(({ signature }) => signature === pass.last);
    const entries = page.slice(lastAt + 1);
    const found = await judgeEntries(search, pass, entries);
    if (found !== undefined) return found;
    if (entries.some(({ blockTime }) => isBefore(blockTime, search.since))) return undefined;
    // One entry is less than any endpoint's page, so the list ends here.
    if (page.length <= 1) return await judgeEndOfList(search, pass);
    if (entries.length === 0) goBackOver(pass, page, lastAt);
    page = await readPage(search, pass);
  }
}

/** A list may end because the endpoint has forgotten, or never had, what was before. */
async function judgeEndOfList(
  { rpc, look, since }: SolanaSearch,
  { firstRoot }: SolanaPass,
): Promise<ChainFinding | undefined> {
  look.requireTime();
  const ledgerStart = await untilCaughtUp(look, () => rpc.findLedgerStart());
  if (ledgerStart === undefined || isBefore(ledgerStart, since)) return undefined;
  const reason = 'the endpoint keeps no transactions from the time of the claim';
  return { kind: 'searching', reason, place: presentBeginning(firstRoot) };
}

/** Newer ones have filled the page down to the last: the next page has to begin below them. */
function goBackOver(pass: SolanaPass, page: readonly SignatureEntry[], lastAt: number): void {
  const above = page[lastAt - 1]?.signature;
  if (above === pass.beforeLast) throw new LaggingNode('the endpoint answers the same page again');
  pass.beforeLast = above;
}

export async function readPage(
  { rpc, look }: SolanaSearch,
  { account, rootSlot, isFinal, beforeLast, last }: ListPosition,
): Promise<readonly SignatureEntry[]> {
  look.requireTime();
  return await untilCaughtUp(look, async () => {
    const commitment = isFinal ? 'finalized' : 'confirmed';
    const page = await rpc.findSignatures(account, commitment, rootSlot, beforeLast);
    // A node that does not know the place answers like one whose list ends there.
    if (last !== undefined && !page.some(({ signature }) => signature === last)) {
      throw new LaggingNode('the endpoint does not list a transaction any more');
    }
    return page;
  });
}

async function judgeEntries(
  search: SolanaSearch,
  pass: SolanaPass,
  entries: readonly SignatureEntry[],
): Promise<ChainFinding | undefined> {
  const candidates = entries.filter((entry) => isCandidate(search, pass, entry));
  let done = 0;
  for (let next = 0; next < candidates.length; next += FETCHED_AT_ONCE) {
    search.look.requireTime();
    const batch = candidates.slice(next, next + FETCHED_AT_ONCE);
    const judged = await Promise.allSettled(batch.map((entry) => judgeEntry(search, pass, entry)));
    const found = judged.flatMap((one) => (one.status === 'fulfilled' && one.value) || []);
    if (found[0] !== undefined) return found[0];
    const failed = judged.findIndex(({ status }) => status === 'rejected');
    const upTo = candidates[next + (failed < 0 ? batch.length : failed)];
    const reached = upTo === undefined ? entries.length : entries.indexOf(upTo);
    advance(pass, entries.slice(done, reached));
    done = reached;
    const failure = judged[failed];
    if (failure?.status === 'rejected') throw failure.reason;
  }
  advance(pass, entries.slice(done));
  return undefined;
}

/** What stays in doubt does not hold the pass up: the payment may be behind it. */
async function judgeEntry(
  search: SolanaSearch,
  pass: SolanaPass,
  { signature }: SignatureEntry,
): Promise<ChainFinding | undefined> {
  const { rpc, look, judge, memory } = search;
  try {
    const landed = await untilCaughtUp(look, async () => {
      const found = await rpc.findTransaction(signature);
      if (found === undefined)
        throw new LaggingNode('the endpoint lists a transaction that it does not have');
      return found;
    });
    const hash = landed === 'later_version' ? landed : hashMessage(landed.transaction.message);
    memory.messages.set(signature, hash);
    const finding = await judge(signature, landed);
    if (finding?.kind !== 'searching') return finding;
  } catch (error) {
    if (look.isCut || readRefusal(error).kind === 'rate_limited') throw error;
  }
  pass.isInDoubt = true;
  return undefined;
}

/** Whether it has to be read to know that it is another message. */
function isCandidate(
  { message, since, memory }: SolanaSearch,
  { isFinal, rootSlot }: ListPosition,
  { blockTime, memo, slot, signature }: SignatureEntry,
): boolean {
  const isAfterExpiry = isFinal && slot > rootSlot;
  const isKnownOther = (memory.messages.get(signature) ?? message.hash) !== message.hash;
  return !isBefore(blockTime, since) && !isAfterExpiry && !isKnownOther && !hasOtherMemo(memo, message);
}

function isBefore(blockTime: Date | undefined, since: Date): boolean {
  return blockTime !== undefined && blockTime < since;
}
