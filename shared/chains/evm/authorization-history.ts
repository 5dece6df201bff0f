import type { ChainCheck } from '../check/chain-check.js';
import { readRpcError } from '../rpc/rpc-error.js';
import type { Authorization } from './authorization-proof.js';
import type { EvmRpc } from './evm-rpc.js';
import type { EvmSearchPosition } from './evm-search-position.js';

const FIRST_STEP_BLOCKS = 8;

/** How far back an endpoint keeps the state of blocks, as learned from its errors. */
export class KnownHistory {
  #depth = Number.POSITIVE_INFINITY;

  reaches(depth: number): boolean {
    if (depth < this.#depth) return true;
    // Doubling lets deeper reads be tried again now and then: another node may keep more.
    this.#depth *= 2;
    return false;
  }

  end(depth: number): void {
    this.#depth = Math.max(Math.min(this.#depth, depth), 1);
  }
}

/**
 * Narrows down in which block `authorizationState` changed, by the state of earlier blocks: a handful of calls where the
 * endpoint keeps that state. A node may answer from another height than requested, so the block found is only searched first.
 */
export async function narrowByHistory(
  rpc: EvmRpc,
  { asset, from, nonce }: Authorization,
  position: EvmSearchPosition,
  history: KnownHistory,
  check: ChainCheck,
): Promise<void> {
  const newest = position.newest;
  for (let read = 0; !position.historyEnded && changedAt(position) === undefined; read += 1) {
    check.requireTime();
    const at = nextToRead(position, newest);
    if (at === undefined || !history.reaches(newest - at)) {
      position.historyEnded = true;
      return;
    }
    try {
      if (await rpc.wasAuthorizationUsed(asset, from, nonce, BigInt(at))) position.usedAt = at;
      else position.unusedAt = at;
    } catch (error) {
      const { kind } = readRpcError(error);
      // A rate limit after some answers is temporary. A rate limit on the first call may apply to historical state always.
      position.historyEnded = kind !== 'rate_limited' || read === 0;
      if (kind === 'rate_limited' || check.isCut) throw error;
      if (kind !== 'failed') history.end(newest - at);
    }
  }
}

/** The block in which `authorizationState` changed, once the two bounds are one block apart. */
export function changedAt({ unusedAt, usedAt }: EvmSearchPosition): number | undefined {
  return unusedAt !== null && usedAt - unusedAt === 1 ? usedAt : undefined;
}

/** Steps back from the newest block in growing steps, then bisects. Undefined when the nonce was used in the first block. */
function nextToRead({ unusedAt, usedAt }: EvmSearchPosition, newest: number): number | undefined {
  if (unusedAt !== null) return Math.floor((unusedAt + usedAt) / 2);
  if (usedAt === 0) return undefined;
  return Math.max(usedAt - Math.max(newest - usedAt, FIRST_STEP_BLOCKS), 0);
}
