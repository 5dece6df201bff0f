import type { SearchPlace } from './search-place.js';
import type { SignatureEntry, SolanaRoot } from './solana-rpc.js';

/** Where in the list of an account, newest first, a page is asked for. */
export interface ListPosition {
  readonly account: string;
  readonly rootSlot: number;
  /** Began when the blockhash was too old at the root, so that nothing can have landed later. */
  readonly isFinal: boolean;
  /** The last two that were gone through: a page is asked for from the one before the last, and must hold the last. */
  beforeLast: string | undefined;
  last: string | undefined;
}

/**
 * One pass over the transactions of an account, from the newest back to the window's start, over as many looks as it
 * takes. What lands meanwhile appears above it, so it can only say what had not landed at the root at which it began.
 */
export interface SolanaPass extends ListPosition {
  readonly rootTime: Date;
  readonly firstRoot: SolanaRoot;
  /** Came upon a transaction of which it could not be said whether it is the payment. */
  isInDoubt: boolean;
}

/** What one look leaves to the next. */
export interface SolanaPlace {
  /** Of the first look: how long ago that was on the chain says whether the blockhash may be too old. */
  firstRoot: SolanaRoot;
  /** Undefined when the next look begins anew. */
  pass: SolanaPass | undefined;
}

export function beginningOf(account: string, rootSlot: number, isFinal: boolean): ListPosition {
  return { account, rootSlot, isFinal, beforeLast: undefined, last: undefined };
}

export function newPass(beginning: ListPosition, rootTime: Date, firstRoot: SolanaRoot): SolanaPass {
  return { ...beginning, rootTime, firstRoot, isInDoubt: false };
}

export function advance(pass: SolanaPass, done: readonly SignatureEntry[]): void {
  for (const { signature } of done.slice(-2)) {
    pass.beforeLast = pass.last;
    pass.last = signature;
  }
}

export function presentPass(pass: SolanaPass): SearchPlace {
  const { account, rootSlot, rootTime, firstRoot, isFinal, beforeLast, last, isInDoubt } = pass;
  return {
    ...presentBeginning(firstRoot),
    account,
    rootSlot,
    rootTimeMs: rootTime.getTime(),
    isFinal,
    beforeLast: beforeLast ?? null,
    last: last ?? null,
    isInDoubt,
  };
}

/** Of a next look that begins a pass of its own. */
export function presentBeginning({ slot, time }: SolanaRoot): SearchPlace {
  return { search: 'svm', firstSlot: slot, firstTimeMs: time.getTime() };
}

/** Undefined when an earlier look has not left one that can be understood, of one of these accounts. */
export function parsePlace(
  stored: SearchPlace | null | undefined,
  accounts: readonly string[],
): SolanaPlace | undefined {
  if (stored?.search !== 'svm') return undefined;
  const { firstSlot, firstTimeMs, account, rootSlot, rootTimeMs, isFinal, isInDoubt } = stored;
  const { beforeLast = null, last = null } = stored;
  if (!isCount(firstSlot) || !isTime(firstTimeMs)) return undefined;
  const firstRoot = { slot: firstSlot, time: new Date(firstTimeMs) };
  if (account === undefined) return { firstRoot, pass: undefined };
  if (typeof account !== 'string' || !accounts.includes(account)) return undefined;
  if (!isCount(rootSlot) || !isTime(rootTimeMs)) return undefined;
  if (typeof isFinal !== 'boolean' || typeof isInDoubt !== 'boolean') return undefined;
  if (!isTextOrNull(beforeLast) || !isTextOrNull(last)) return undefined;
  const position = {
    account,
    rootSlot,
    isFinal,
    beforeLast: beforeLast ?? undefined,
    last: last ?? undefined,
  };
  return { firstRoot, pass: { ...position, rootTime: new Date(rootTimeMs), firstRoot, isInDoubt } };
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
