import type { Hex } from 'viem';
import { type Authorization, authorizationLogFilter, isAuthorizationLog } from './authorization-proof.js';
import type { EvmBlock, EvmRpc } from './evm-rpc.js';
import { ChainUnreadable } from './unreadable.js';

/** What public endpoints search at once differs from 10 to 10,000 blocks, so the range shrinks when one refuses. */
const BLOCKS_PER_SEARCH = 5000n;
const SHRINK_BY = 4n;
const MAX_SEARCHES = 40;
/** How far back the first step goes that measures the chain's pace. */
const SAMPLE_BLOCKS = 100n;

export interface SearchWindow {
  /** Unix seconds: not used before. */
  since: bigint;
  /** Unix seconds: hardly used later, though a cancellation may be. */
  until: bigint;
}

/** The transaction that used or cancelled the authorization; undefined when the blocks up to `head` do not show it. */
export async function findAuthorizationLog(
  rpc: EvmRpc,
  authorization: Authorization,
  head: EvmBlock,
  { since, until }: SearchWindow,
): Promise<Hex | undefined> {
  const blocks = new BlockClock(rpc, head);
  const search = new BackwardSearch(rpc, authorization);
  const newest = await blocks.firstAfter(until);
  const oldest = await blocks.lastBefore(since, newest);
  const found = await search.find(oldest.number, newest.number);
  return found ?? (await search.find(newest.number + 1n, head.number));
}

/** Finds blocks by their time. Exact only to one search's range: what matters is that none is left out. */
class BlockClock {
  readonly #rpc: EvmRpc;
  readonly #head: EvmBlock;

  constructor(rpc: EvmRpc, head: EvmBlock) {
    this.#rpc = rpc;
    this.#head = head;
  }

  /** The head when the time is still to come. */
  async firstAfter(time: bigint): Promise<EvmBlock> {
    return this.#head.timestamp <= time ? this.#head : (await this.#around(time, this.#head)).after;
  }

  async lastBefore(time: bigint, newest: EvmBlock): Promise<EvmBlock> {
    return (await this.#around(time, newest)).before;
  }

  async #around(time: bigint, newest: EvmBlock): Promise<{ before: EvmBlock; after: EvmBlock }> {
    let after = newest;
    let before = newest;
    let step = SAMPLE_BLOCKS;
    while (before.timestamp > time && before.number > 0n) {
      after = before;
      before = await this.#read(max(after.number - step, 0n));
      const elapsed = max(after.timestamp - before.timestamp, 1n);
      const toGo = max(before.timestamp - time, 0n);
      // At the measured pace and a fifth more, but always twice as far: block times jump and stand still.
      step = max((toGo * (after.number - before.number) * 6n) / (elapsed * 5n), step * 2n);
    }
    while (after.number - before.number > BLOCKS_PER_SEARCH) {
      const middle = await this.#read((before.number + after.number) / 2n);
      if (middle.timestamp > time) after = middle;
      else before = middle;
    }
    return { before, after };
  }

  async #read(number: bigint): Promise<EvmBlock> {
    const block = await this.#rpc.findBlock(number);
    if (block === undefined) throw new ChainUnreadable(`the endpoint has no block ${number}`);
    return block;
  }
}

class BackwardSearch {
  readonly #rpc: EvmRpc;
  readonly #authorization: Authorization;
  #range = BLOCKS_PER_SEARCH;
  #searches = 0;

  constructor(rpc: EvmRpc, authorization: Authorization) {
    this.#rpc = rpc;
    this.#authorization = authorization;
  }

  async find(oldest: bigint, newest: bigint): Promise<Hex | undefined> {
    let upTo = newest;
    while (upTo >= oldest) {
      this.#searches += 1;
      if (this.#searches > MAX_SEARCHES) throw new ChainUnreadable('too many blocks to search for the log');
      const from = max(upTo - this.#range + 1n, oldest);
      const logs = await this.#rpc.findLogs(authorizationLogFilter(this.#authorization), from, upTo);
      if (logs === undefined) {
        if (this.#range === 1n) throw new ChainUnreadable('the endpoint refuses to search for logs');
        this.#range = max(this.#range / SHRINK_BY, 1n);
        continue;
      }
      const log = logs.find((candidate) => isAuthorizationLog(candidate, this.#authorization));
      if (log !== undefined) return log.transactionHash;
      upTo = from - 1n;
    }
    return undefined;
  }
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
