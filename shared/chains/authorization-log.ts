import type { Hex } from 'viem';
import { changedAt, type KnownHistory, narrowByHistory } from './authorization-history.js';
import { type Authorization, authorizationLogFilter, isAuthorizationLog } from './authorization-proof.js';
import type { BlockClock } from './block-clock.js';
import type { EvmBlock, EvmRpc } from './evm-rpc.js';
import { beginNextPass, type EvmSearchPlace } from './evm-search-place.js';
import type { LogRange } from './log-range.js';
import type { Look } from './look.js';
import { readRefusal } from './refusal.js';
import { ChainUnreadable } from './unreadable.js';

/** What is known of one endpoint, from look to look. */
export interface EvmEndpointMemory {
  logRange: LogRange;
  history: KnownHistory;
  blockClock: BlockClock;
}

export interface LogSearch {
  authorization: Authorization;
  claimedAt: Date;
  head: EvmBlock;
  place: EvmSearchPlace;
  memory: EvmEndpointMemory;
  look: Look;
}

/**
 * The transaction that used or cancelled an authorization that is used up to `head`: where the state changed, else
 * from the claim on to the head, for it is mostly used at once, and then back. Undefined when a whole pass over the logs
 * has not shown it, which proves nothing. It moves `place` on, also when it throws.
 */
export async function findAuthorizationLog(rpc: EvmRpc, search: LogSearch): Promise<Hex | undefined> {
  const { authorization, head, place, memory, look } = search;
  await narrowByHistory(rpc, authorization, place, memory.history, look);
  const changed = changedAt(place);
  const there = changed === undefined ? undefined : await findInBlocks(rpc, search, changed, changed);
  const found = there?.transaction ?? (await searchForward(rpc, search)) ?? (await searchBack(rpc, search));
  if (found === undefined) beginNextPass(place, Number(head.number));
  return found;
}

async function searchForward(rpc: EvmRpc, search: LogSearch): Promise<Hex | undefined> {
  const { place, head, claimedAt, memory } = search;
  if (place.from === null) {
    place.from = await memory.blockClock.findBlockBefore(rpc, seconds(claimedAt), head);
    place.to = place.from;
  }
  while (place.to <= place.newest) {
    const { transaction, newest } = await findInBlocks(rpc, search, place.to, place.newest);
    if (transaction !== undefined) return transaction;
    place.to = newest + 1;
  }
  return undefined;
}

async function searchBack(rpc: EvmRpc, search: LogSearch): Promise<Hex | undefined> {
  const { place, head, claimedAt, memory } = search;
  place.oldest ??= await memory.blockClock.findBlockBefore(rpc, seconds(claimedAt) - place.backSeconds, head);
  while (place.from !== null && place.from > place.oldest) {
    const oldest = Math.max(place.from - memory.logRange.blocks, place.oldest);
    const { transaction, newest } = await findInBlocks(rpc, search, oldest, place.from - 1);
    if (transaction !== undefined) return transaction;
    // When fewer were searched than asked for, the part next to what is done already is asked for again.
    if (newest === place.from - 1) place.from = oldest;
  }
  return undefined;
}

/** As many blocks from `oldest` on as the endpoint searches at once, up to `newest` of them. */
async function findInBlocks(
  rpc: EvmRpc,
  { authorization, memory: { logRange }, look }: LogSearch,
  oldest: number,
  newest: number,
): Promise<{ transaction: Hex | undefined; newest: number }> {
  for (;;) {
    look.requireTime();
    const asked = Math.min(logRange.blocks, newest - oldest + 1);
    const upTo = oldest + asked - 1;
    try {
      const logs = await rpc.findLogs(authorizationLogFilter(authorization), oldest, upTo);
      logRange.succeed();
      const log = logs.find((candidate) => isAuthorizationLog(candidate, authorization));
      return { transaction: log?.transactionHash, newest: upTo };
    } catch (error) {
      const { kind, words } = readRefusal(error);
      if (kind === 'failed') logRange.fail(asked);
      if (kind !== 'refused') throw error;
      if (asked === 1) throw new ChainUnreadable('the endpoint refuses to search for logs');
      logRange.refuse(asked, words);
    }
  }
}

function seconds(date: Date): number {
  return Math.floor(date.getTime() / 1000);
}
