import type { SearchPlace } from '../domain/payment.js';
import type { SignatureEntry, SolanaRoot } from './solana-rpc.js';

/**
 * One pass over the transactions of an account, from the newest back to the window's start, over as many looks as it
 * takes. What lands meanwhile appears above it, so it can only say what had not landed at the root at which it began.
 */
export interface SolanaPass {
  readonly account: string;
  readonly root: SolanaRoot;
  /** Began when the blockhash was too old at the root, so that nothing can have landed later. */
  readonly isFinal: boolean;
  /** The last two that were gone through: a page is asked for from the one before the last, and must hold the last. */
  beforeLast: string | undefined;
  last: string | undefined;
  /** Came upon a transaction of which it could not be said whether it is the payment. */
  isInDoubt: boolean;
}

export function newPass(account: string, root: SolanaRoot, isFinal: boolean): SolanaPass {
  return { account, root, isFinal, beforeLast: undefined, last: undefined, isInDoubt: false };
}

export function advance(pass: SolanaPass, done: readonly SignatureEntry[]): void {
  for (const { signature } of done.slice(-2)) {
    pass.beforeLast = pass.last;
    pass.last = signature;
  }
}

export function presentPass({
  account,
  root,
  isFinal,
  beforeLast,
  last,
  isInDoubt,
}: SolanaPass): SearchPlace {
  return {
    search: 'svm',
    account,
    rootSlot: root.slot,
    rootTimeMs: root.time.getTime(),
    isFinal,
    beforeLast: beforeLast ?? null,
    last: last ?? null,
    isInDoubt,
  };
}

/** Undefined when an earlier look has not left one that can be understood, of one of these accounts. */
export function parsePass(
  stored: SearchPlace | null | undefined,
  accounts: readonly string[],
): SolanaPass | undefined {
  if (stored?.search !== 'svm') return undefined;
  const { account, rootSlot, rootTimeMs, isFinal, beforeLast, last, isInDoubt } = stored;
  if (typeof account !== 'string' || !accounts.includes(account)) return undefined;
  if (!isCount(rootSlot) || !isCount(rootTimeMs) || rootTimeMs > 8.64e15) return undefined;
  if (typeof isFinal !== 'boolean' || typeof isInDoubt !== 'boolean') return undefined;
  if (!isTextOrNull(beforeLast) || !isTextOrNull(last)) return undefined;
  return {
    account,
    root: { slot: rootSlot, time: new Date(rootTimeMs) },
    isFinal,
    beforeLast: beforeLast ?? undefined,
    last: last ?? undefined,
    isInDoubt,
  };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || typeof value === 'string';
}
