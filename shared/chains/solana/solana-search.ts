import type { LRUCache } from 'lru-cache';
import { inGroups } from '../../values/in-groups.js';
import type { ChainCheck } from '../check/chain-check.js';
import type { ChainFinding } from '../check/finding.js';
import { ChainUnreadable } from '../check/unreadable.js';
import { LaggingNode, retryWhileBehind } from '../rpc/lagging-node.js';
import { readRpcError } from '../rpc/rpc-error.js';
import { type FirstPage, isShort, shortest } from './shortest-history.js';
import { hasOtherMemo, identityOf, mayHold, type SignedMessage } from './solana-message.js';
import { advance, beginningOf, type ListPosition, presentBeginning, type SolanaPass } from './solana-pass.js';
import type { LandedTransaction, SignatureEntry, SolanaRpc } from './solana-rpc.js';

const FETCHED_AT_ONCE = 5;
/** The newest page is read again so often, one call after the other, so that each node behind one URL likely answers one. */
const PAGES_ASKED = 4;

/** Knowledge about one endpoint that is kept between checks. */
export interface SolanaEndpointMemory {
  /** The identity of each message (`identityOf`) by signature: every pass meets the same transactions again. */
  messages: LRUCache<string, string>;
}

export interface SolanaSearch {
  rpc: SolanaRpc;
  check: ChainCheck;
  message: SignedMessage;
  memory: SolanaEndpointMemory;
  /** The payment did not land before this time. */
  since: Date;
  judge: Judge;
}

/** Undefined when the transaction holds another message. */
export type Judge = (signature: string, landed: LandedTransaction) => Promise<ChainFinding | undefined>;

/** Chooses, by the first page of each, the account whose history takes the fewest reads. Each account is in the transaction. */
export async function chooseList(
  search: SolanaSearch,
  accounts: readonly string[],
  rootSlot: number,
  isFinal: boolean,
): Promise<{ beginning: ListPosition; page: readonly SignatureEntry[] }> {
  const [first = '', ...others] = accounts;
  const read = async (account: string): Promise<FirstPage> => {
    const beginning = beginningOf({ account, rootSlot, isFinal });
    const entries = await readPage(search, beginning);
    return {
      account,
      entries,
      candidates: entries.filter((entry) => isCandidate(search, beginning, entry)).length,
    };
  };
  const firstPage = await read(first);
  let chosen = firstPage;
  if (!isShort(firstPage, search.since)) {
    // An account that cannot be listed is not chosen.
    const pages = await Promise.allSettled(others.map(read));
    const readable = pages.flatMap((page) => (page.status === 'fulfilled' ? [page.value] : []));
    chosen = shortest([firstPage, ...readable], search.since);
  }
  return { beginning: beginningOf({ account: chosen.account, rootSlot, isFinal }), page: chosen.entries };
}

/**
 * Continues a pass to its end. Undefined when the account's transactions since the window's start do not hold the payment.
 * Advances `pass`, also when it throws.
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
    // No endpoint's pages are as short as one entry, so the list ends here.
    if (page.length <= 1) return await judgeEndOfList(search, pass);
    if (entries.length === 0) stepBack(pass, page, lastAt);
    page = await readPage(search, pass);
  }
}

/**
 * The node of a pass that ended without the payment may list late, and another node may list the payment by now. Any node may
 * answer, one behind the pass' root, too: it may have the payment all the same, and proves nothing without it.
 */
export async function readNewestAgain(
  search: SolanaSearch,
  pass: SolanaPass,
): Promise<ChainFinding | undefined> {
  for (let asked = 0; asked < PAGES_ASKED; asked += 1) {
    const again = { ...pass, beforeLast: undefined, last: undefined };
    const page = await readPage(search, { ...again, rootSlot: 0 });
    const found = await judgeEntries(search, again, page);
    if (found !== undefined) return found;
    pass.hasUnclear ||= again.hasUnclear;
  }
  return undefined;
}

/** A list may also end because the endpoint does not keep older transactions. */
async function judgeEndOfList(
  { rpc, check, since }: SolanaSearch,
  { firstRoot, isFinal }: SolanaPass,
): Promise<ChainFinding | undefined> {
  check.requireTime();
  const ledgerStart = await retryWhileBehind(check, () =>
    rpc.findLedgerStart(isFinal ? 'of_each_node' : 'once'),
  );
  if (ledgerStart === undefined || isBefore(ledgerStart, since)) return undefined;
  const reason = 'the endpoint keeps no transactions from the time of the claim';
  return { kind: 'searching', reason, position: presentBeginning(firstRoot) };
}

/** The page holds only transactions newer than `last`, so the next page has to start below them. */
export function stepBack(pass: ListPosition, page: readonly SignatureEntry[], lastAt: number): void {
  const above = page[lastAt - 1]?.signature;
  if (above === pass.beforeLast) throw new LaggingNode('the endpoint answers the same page again');
  pass.beforeLast = above;
}

export async function readPage(
  { rpc, check }: Pick<SolanaSearch, 'rpc' | 'check'>,
  { account, rootSlot, isFinal, beforeLast, last }: ListPosition,
): Promise<readonly SignatureEntry[]> {
  check.requireTime();
  return await retryWhileBehind(check, async () => {
    const commitment = isFinal ? 'finalized' : 'confirmed';
    const page = await rpc.findSignatures(account, commitment, rootSlot, beforeLast);
    // A node that does not know `beforeLast` answers an empty list, as at the end of the list.
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
  const batches = inGroups(candidates, FETCHED_AT_ONCE);
  for (const [index, batch] of batches.entries()) {
    search.check.requireTime();
    const judged = await Promise.allSettled(batch.map((entry) => judgeEntry(search, pass, entry)));
    const found = judged.flatMap((one) => (one.status === 'fulfilled' && one.value) || []);
    if (found[0] !== undefined) return found[0];
    const failed = judged.findIndex(({ status }) => status === 'rejected');
    const upTo = failed < 0 ? batches[index + 1]?.[0] : batch[failed];
    const reached = upTo === undefined ? entries.length : entries.indexOf(upTo);
    advance(pass, entries.slice(done, reached));
    done = reached;
    const failure = judged[failed];
    if (failure?.status === 'rejected') throw failure.reason;
  }
  advance(pass, entries.slice(done));
  return undefined;
}

/** A transaction that cannot be read does not stop the pass, since the payment may be behind it. */
async function judgeEntry(
  search: SolanaSearch,
  pass: SolanaPass,
  { signature }: SignatureEntry,
): Promise<ChainFinding | undefined> {
  const { rpc, check, judge, memory } = search;
  try {
    const landed = await retryWhileBehind(check, async () => {
      const found = await rpc.findTransaction(signature);
      if (found === undefined)
        throw new LaggingNode('the endpoint lists a transaction that it does not have');
      return found;
    });
    requireTaken(landed);
    memory.messages.set(signature, typeof landed === 'string' ? landed : identityOf(landed.transaction));
    const finding = await judge(signature, landed);
    if (finding?.kind !== 'searching') return finding;
  } catch (error) {
    if (check.isCut || readRpcError(error).kind === 'rate_limited') throw error;
  }
  pass.hasUnclear = true;
  return undefined;
}

/** A payment may be of the version that the endpoint refuses. */
export function requireTaken(landed: LandedTransaction): void {
  if (landed === 'refused_version') throw new ChainUnreadable('the endpoint refuses the version of payments');
}

/** Whether the transaction has to be read to tell its message apart from the payment's. */
function isCandidate(
  { message, since, memory }: SolanaSearch,
  { isFinal, rootSlot }: ListPosition,
  { blockTime, memo, slot, signature }: SignatureEntry,
): boolean {
  const isAfterExpiry = isFinal && slot > rootSlot;
  const known = memory.messages.get(signature);
  const isKnownOther = known !== undefined && !mayHold(known, message);
  return !isBefore(blockTime, since) && !isAfterExpiry && !isKnownOther && !hasOtherMemo(memo, message);
}

function isBefore(blockTime: Date | undefined, since: Date): boolean {
  return blockTime !== undefined && blockTime < since;
}
