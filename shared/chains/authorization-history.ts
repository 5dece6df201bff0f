import type { Authorization } from './authorization-proof.js';
import type { EvmRpc } from './evm-rpc.js';
import type { EvmSearchPlace } from './evm-search-place.js';
import type { Look } from './look.js';
import { readRefusal } from './refusal.js';

const FIRST_STEP_BLOCKS = 8;

/** How far back an endpoint keeps the state of blocks, as far as that was met. */
export class KnownHistory {
  #depth = Number.POSITIVE_INFINITY;

  reaches(depth: number): boolean {
    if (depth < this.#depth) return true;
    // Asked again now and then: another node may keep more.
    this.#depth *= 2;
    return false;
  }

  end(depth: number): void {
    this.#depth = Math.max(Math.min(this.#depth, depth), 1);
  }
}

/**
 * Narrows down in which block `authorizationState` changed, by the state of earlier ones: a handful of calls where the
 * endpoint keeps it. A node may answer from another height than asked for, so the block found is a place to look first.
 */
export async function narrowByHistory(
  rpc: EvmRpc,
  { asset, from, nonce }: Authorization,
  place: EvmSearchPlace,
  history: KnownHistory,
  look: Look,
): Promise<void> {
  const newest = place.newest;
  for (let read = 0; !place.historyEnded && changedAt(place) === undefined; read += 1) {
    look.requireTime();
    const at = nextToRead(place, newest);
    if (at === undefined || !history.reaches(newest - at)) {
      place.historyEnded = true;
      return;
    }
    try {
      if (await rpc.wasAuthorizationUsed(asset, from, nonce, BigInt(at))) place.usedAt = at;
      else place.unusedAt = at;
    } catch (error) {
      const { kind } = readRefusal(error);
      // Whoever limits calls in general goes on later; whoever limits these never answers one.
      place.historyEnded = kind !== 'rate_limited' || read === 0;
      if (kind === 'rate_limited' || look.isCut) throw error;
      if (kind !== 'failed') history.end(newest - at);
    }
  }
}

/** The block in which it changed, if that is known. */
export function changedAt({ unusedAt, usedAt }: EvmSearchPlace): number | undefined {
  return unusedAt !== null && usedAt - unusedAt === 1 ? usedAt : undefined;
}

/** Back from the newest in growing steps, then between the two. Undefined when it was used in the first block. */
function nextToRead({ unusedAt, usedAt }: EvmSearchPlace, newest: number): number | undefined {
  if (unusedAt !== null) return Math.floor((unusedAt + usedAt) / 2);
  if (usedAt === 0) return undefined;
  return Math.max(usedAt - Math.max(newest - usedAt, FIRST_STEP_BLOCKS), 0);
}
