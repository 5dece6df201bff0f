import { unixSeconds } from '../../wire/timestamp.js';
import type { ChainCheck } from '../check/chain-check.js';
import { changedAt, type KnownHistory, narrowByHistory } from './authorization-history.js';
import { type Authorization, authorizationLogFilter, isAuthorizationLog } from './authorization-proof.js';
import { type BlockClock, NEAR_ENOUGH_BLOCKS } from './block-clock.js';
import type { EvmBlock, EvmRpc, FoundLog } from './evm-rpc.js';
import { beginNextPass, type EvmSearchPosition } from './evm-search-position.js';
import type { LogRange } from './log-range.js';

/** Knowledge about one endpoint that is kept between checks. */
export interface EvmEndpointMemory {
  logRange: LogRange;
  history: KnownHistory;
  blockClock: BlockClock;
}

interface LogSearch {
  authorization: Authorization;
  claimedAt: Date;
  head: EvmBlock;
  position: EvmSearchPosition;
  memory: EvmEndpointMemory;
  check: ChainCheck;
}

/** A block's time is in whole seconds, and the chain's clock may be ahead of ours. */
const EARLY_SECONDS = 60;
/** How long before the claim a search up to the head may begin, as a part of the blocks that one search takes. */
const EARLY_PART = 0.25;

/**
 * Finds the log by which an authorization that is used at `head` was used or cancelled. If one search takes all blocks since
 * the claim, it is the first. Else the block in which the state changed is searched first, then the blocks from the claim
 * forward to the head, since most authorizations are used at once, then the blocks before the claim. Undefined when a whole
 * pass over the logs has not shown it, which proves nothing. Advances `position`, also when it throws.
 */
export async function findAuthorizationLog(rpc: EvmRpc, search: LogSearch): Promise<FoundLog | undefined> {
  const { authorization, head, position, memory, check } = search;
  const sinceClaim = await searchSinceClaim(rpc, search);
  if (sinceClaim !== undefined) return sinceClaim;
  await narrowByHistory(rpc, authorization, position, memory.history, check);
  const changed = changedAt(position);
  const there = changed === undefined ? undefined : await findInBlocks(rpc, search, changed, changed);
  const found = there?.log ?? (await searchForward(rpc, search)) ?? (await searchBack(rpc, search));
  if (found === undefined) beginNextPass(position, Number(head.number));
  return found;
}

/** Searches all blocks since the claim at once: one or two calls, whereas narrowing by the state's history takes a dozen. */
async function searchSinceClaim(rpc: EvmRpc, search: LogSearch): Promise<FoundLog | undefined> {
  const { position, head, claimedAt, memory } = search;
  if (position.from !== null || position.unusedAt !== null) return undefined;
  const { blocks } = memory.logRange;
  const nearEnough = Math.floor(blocks * EARLY_PART);
  if (nearEnough < NEAR_ENOUGH_BLOCKS) return undefined;
  const since = unixSeconds(claimedAt) - EARLY_SECONDS;
  const from = await memory.blockClock.findBlockBefore(rpc, since, head, nearEnough);
  if (position.newest - from >= blocks) return undefined;
  const { log, newest } = await findInBlocks(rpc, search, from, position.newest);
  // When the endpoint searched fewer blocks, the later steps search them again, from a beginning that is known better.
  if (log === undefined && newest === position.newest) {
    position.from = from;
    position.to = newest + 1;
  }
  return log;
}

async function searchForward(rpc: EvmRpc, search: LogSearch): Promise<FoundLog | undefined> {
  const { position, head, claimedAt, memory } = search;
  if (position.from === null) {
    position.from = await memory.blockClock.findBlockBefore(rpc, unixSeconds(claimedAt), head);
    position.to = position.from;
  }
  while (position.to <= position.newest) {
    const { log, newest } = await findInBlocks(rpc, search, position.to, position.newest);
    if (log !== undefined) return log;
    position.to = newest + 1;
  }
  return undefined;
}

async function searchBack(rpc: EvmRpc, search: LogSearch): Promise<FoundLog | undefined> {
  const { position, head, claimedAt, memory } = search;
  position.oldest ??= await memory.blockClock.findBlockBefore(
    rpc,
    unixSeconds(claimedAt) - position.backSeconds,
    head,
  );
  while (position.from !== null && position.from > position.oldest) {
    const oldest = Math.max(position.from - memory.logRange.blocks, position.oldest);
    const { log, newest } = await findInBlocks(rpc, search, oldest, position.from - 1);
    if (log !== undefined) return log;
    // When the endpoint searched fewer blocks than requested, the rest next to the searched ones is requested again.
    if (newest === position.from - 1) position.from = oldest;
  }
  return undefined;
}

/** Searches from `oldest` on as many blocks as the endpoint takes at once, at most up to `newest`. */
async function findInBlocks(
  rpc: EvmRpc,
  { authorization, memory: { logRange }, check }: LogSearch,
  oldest: number,
  newest: number,
): Promise<{ log: FoundLog | undefined; newest: number }> {
  const { found, upTo } = await logRange.search(check, { oldest, newest }, (last) =>
    rpc.findLogs(authorizationLogFilter(authorization), oldest, last),
  );
  const log = found.find((candidate) => isAuthorizationLog(candidate, authorization));
  return { log, newest: upTo };
}
