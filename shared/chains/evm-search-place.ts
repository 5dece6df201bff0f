import type { SearchPlace } from './search-place.js';

/**
 * How far the search for what used an authorization has come. That there is one says that the authorization was read
 * as used. Everything else in it is a guess where to look next: whatever is wrong, the next pass goes over all again.
 */
export interface EvmSearchPlace {
  /** Where `authorizationState` changed lies after the one and at or before the other; one apart, it is found. */
  unusedAt: number | null;
  usedAt: number;
  /** No state can be read that would narrow this down further. */
  historyEnded: boolean;
  /** The logs of the blocks `from` to `to` without the latter are searched, in both directions; null before that. */
  from: number | null;
  to: number;
  oldest: number | null;
  newest: number;
  /** How long before the claim this pass ends. */
  backSeconds: number;
}

/** By how much the chain's clock may differ from ours. */
const CLOCK_SKEW_SECONDS = 600;
/** Older than every chain; a pruned one has no first block to end at. */
const MOST_BACK_SECONDS = 2 ** 32;

export function beginEvmSearch(head: number): EvmSearchPlace {
  return {
    unusedAt: null,
    usedAt: head,
    historyEnded: false,
    from: null,
    to: 0,
    oldest: null,
    newest: head,
    backSeconds: CLOCK_SKEW_SECONDS,
  };
}

/**
 * The next pass over the logs: an index may have lagged behind its head, and the endpoint have erred. It goes back twice
 * as far, for the authorization may have been used long before the claim, and after the first block begins anew.
 */
export function beginNextPass(place: EvmSearchPlace, head: number): void {
  const { unusedAt, usedAt, oldest } = place;
  const isNarrow = unusedAt !== null && usedAt - unusedAt === 1;
  const further = place.backSeconds * 2;
  const backSeconds = oldest === 0 || further > MOST_BACK_SECONDS ? CLOCK_SKEW_SECONDS : further;
  Object.assign(place, beginEvmSearch(head), { backSeconds }, isNarrow && { unusedAt, usedAt });
}

/** To be searched at a head that may be of a node which lags behind the earlier one. */
export function continueEvmSearch(place: EvmSearchPlace, head: number): EvmSearchPlace {
  const newest = Math.min(place.newest, head);
  const from = place.from === null ? null : Math.min(place.from, newest + 1);
  return { ...place, newest, from, to: Math.min(place.to, newest + 1) };
}

export function presentEvmPlace(place: EvmSearchPlace): SearchPlace {
  return { search: 'evm', ...place };
}

/** Undefined when an earlier look has not left one that can be understood. */
export function parseEvmPlace(stored: SearchPlace | null | undefined): EvmSearchPlace | undefined {
  if (stored?.search !== 'evm' || typeof stored.historyEnded !== 'boolean') return undefined;
  const { historyEnded, unusedAt, usedAt, from, to, oldest, newest, backSeconds } = stored;
  if (!isBlock(usedAt) || !isBlock(to) || !isBlock(newest)) return undefined;
  if (!isBlockOrNull(unusedAt) || !isBlockOrNull(from) || !isBlockOrNull(oldest)) return undefined;
  if ((unusedAt ?? -1) >= usedAt || (from ?? to) > to) return undefined;
  return { unusedAt, usedAt, historyEnded, from, to, oldest, newest, backSeconds: parseBack(backSeconds) };
}

function parseBack(value: unknown): number {
  const isBack = isBlock(value) && value >= CLOCK_SKEW_SECONDS && value <= MOST_BACK_SECONDS;
  return isBack ? value : CLOCK_SKEW_SECONDS;
}

function isBlock(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function isBlockOrNull(value: unknown): value is number | null {
  return value === null || isBlock(value);
}
