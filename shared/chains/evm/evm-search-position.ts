import type { SearchPosition } from '../check/search-position.js';

/**
 * How far the search for the use of an authorization has come. A position exists only if the authorization was read as
 * used. Its values only guide the search: if one is wrong, the next pass covers all blocks again.
 */
export interface EvmSearchPosition {
  /** `authorizationState` changed after `unusedAt` and at or before `usedAt`; one block apart, the block is found. */
  unusedAt: number | null;
  usedAt: number;
  /** No older state can be read to narrow these bounds further. */
  historyEnded: boolean;
  /** The logs of the blocks from `from` up to but not including `to` are searched; null before the search has begun. */
  from: number | null;
  to: number;
  oldest: number | null;
  newest: number;
  /** How long before the claim this pass ends, in seconds of the chain. */
  backSeconds: number;
}

/** How much the chain's clock may differ from ours. */
const CLOCK_SKEW_SECONDS = 600;
/** Older than every chain. A pruned chain has no first block at which the search could end. */
const MOST_BACK_SECONDS = 2 ** 32;

export function beginEvmSearch(head: number): EvmSearchPosition {
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
 * Starts the next pass over the logs, since a log index may have lagged behind its head and endpoints err. The pass goes
 * back twice as far, since the authorization may have been used long before the claim; once it has reached the first
 * block, it starts again from the shortest distance.
 */
export function beginNextPass(position: EvmSearchPosition, head: number): void {
  const { unusedAt, usedAt, oldest } = position;
  const isNarrow = unusedAt !== null && usedAt - unusedAt === 1;
  const further = position.backSeconds * 2;
  const backSeconds = oldest === 0 || further > MOST_BACK_SECONDS ? CLOCK_SKEW_SECONDS : further;
  Object.assign(position, beginEvmSearch(head), { backSeconds }, isNarrow && { unusedAt, usedAt });
}

/** Limits an earlier position to the present head, which may come from a node that lags behind the earlier one. */
export function continueEvmSearch(position: EvmSearchPosition, head: number): EvmSearchPosition {
  const newest = Math.min(position.newest, head);
  const from = position.from === null ? null : Math.min(position.from, newest + 1);
  return { ...position, newest, from, to: Math.min(position.to, newest + 1) };
}

export function presentEvmPosition(position: EvmSearchPosition): SearchPosition {
  return { search: 'evm', ...position };
}

/** Undefined when no valid position is stored. */
export function parseEvmPosition(stored: SearchPosition | null | undefined): EvmSearchPosition | undefined {
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
