import type { SearchPosition } from '../check/search-position.js';
import type { SignatureEntry, SolanaRoot } from './solana-rpc.js';

/** The root at the first check of a payment. */
export interface FirstRoot extends SolanaRoot {
  /** The payment was claimed at this time of the chain, which may differ from ours, or later. */
  claimedAt: Date | undefined;
}

/** A position in an account's list of transactions, which is ordered newest first. */
export interface ListPosition {
  readonly account: string;
  readonly rootSlot: number;
  /** The blockhash had expired at the root, so the payment cannot land later. */
  readonly isFinal: boolean;
  /** The last two transactions searched. The next page starts after `beforeLast` and must contain `last`. */
  beforeLast: string | undefined;
  last: string | undefined;
}

/**
 * One pass over the transactions of an account, from the newest back to the window's start, over as many checks as it takes.
 * Transactions that land meanwhile appear above the pass: it proves nothing about transactions newer than its root.
 */
export interface SolanaPass extends ListPosition {
  readonly rootTime: Date;
  readonly firstRoot: FirstRoot;
  /** The pass met a transaction that could not be read and may be the payment. */
  hasUnclear: boolean;
}

/** The stored state between two checks. */
interface SolanaPosition {
  /** The root at the first check; the chain's time since then bounds the blockhash's age. */
  firstRoot: FirstRoot;
  /** Undefined when the next check starts a new pass. */
  pass: SolanaPass | undefined;
}

type Beginning = Pick<ListPosition, 'account' | 'rootSlot' | 'isFinal'>;

export function beginningOf(list: Beginning): ListPosition {
  return { ...list, beforeLast: undefined, last: undefined };
}

export function newPass(beginning: ListPosition, rootTime: Date, firstRoot: FirstRoot): SolanaPass {
  return { ...beginning, rootTime, firstRoot, hasUnclear: false };
}

export function advance(pass: ListPosition, done: readonly SignatureEntry[]): void {
  for (const { signature } of done.slice(-2)) {
    pass.beforeLast = pass.last;
    pass.last = signature;
  }
}

export function presentPass(pass: SolanaPass): SearchPosition {
  const { account, rootSlot, rootTime, firstRoot, isFinal, beforeLast, last, hasUnclear } = pass;
  return {
    ...presentBeginning(firstRoot),
    account,
    rootSlot,
    rootTimeMs: rootTime.getTime(),
    isFinal,
    beforeLast: beforeLast ?? null,
    last: last ?? null,
    // The stored name: rows may be older or newer than this process.
    isInDoubt: hasUnclear,
  };
}

/** The position for a next check that starts a new pass. */
export function presentBeginning({ slot, time, claimedAt }: FirstRoot): SearchPosition {
  const first = { firstSlot: slot, firstTimeMs: time.getTime() };
  return { search: 'svm', ...first, ...(claimedAt && { claimedAtMs: claimedAt.getTime() }) };
}

/** Undefined when no valid position is stored for one of these accounts. */
export function parseSolanaPosition(
  stored: SearchPosition | null | undefined,
  accounts: readonly string[],
): SolanaPosition | undefined {
  if (stored?.search !== 'svm') return undefined;
  const { firstSlot, firstTimeMs, account, rootSlot, rootTimeMs, isFinal, isInDoubt: hasUnclear } = stored;
  const { beforeLast = null, last = null, claimedAtMs } = stored;
  if (!isCount(firstSlot) || !isTime(firstTimeMs)) return undefined;
  // Positions that an earlier version stored have none.
  const claimedAt = isTime(claimedAtMs) ? new Date(claimedAtMs) : undefined;
  const firstRoot = { slot: firstSlot, time: new Date(firstTimeMs), claimedAt };
  if (account === undefined) return { firstRoot, pass: undefined };
  if (typeof account !== 'string' || !accounts.includes(account)) return undefined;
  if (!isCount(rootSlot) || !isTime(rootTimeMs)) return undefined;
  if (typeof isFinal !== 'boolean' || typeof hasUnclear !== 'boolean') return undefined;
  if (!isTextOrNull(beforeLast) || !isTextOrNull(last)) return undefined;
  const position = {
    account,
    rootSlot,
    isFinal,
    beforeLast: beforeLast ?? undefined,
    last: last ?? undefined,
  };
  return { firstRoot, pass: { ...position, rootTime: new Date(rootTimeMs), firstRoot, hasUnclear } };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

/** Unix milliseconds that a Date holds. */
function isTime(value: unknown): value is number {
  return isCount(value) && value <= 8.64e15;
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || typeof value === 'string';
}
