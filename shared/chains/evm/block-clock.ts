import { readRpcError } from '../rpc/rpc-error.js';
import type { EvmBlock, EvmRpc } from './evm-rpc.js';

/** Length of the first step back, which measures the chain's pace. */
const SAMPLE_BLOCKS = 100;
/** By default the search ends when the block is known to within this distance. */
export const NEAR_ENOUGH_BLOCKS = 16;

const MOST_SAMPLES = 1000;

interface Found {
  number: number;
  /** Unix seconds. */
  time: number;
}

/** Maps times to blocks of one endpoint. Samples are kept between checks, so an interrupted search is not repeated. */
export class BlockClock {
  readonly #times = new Map<number, number>();

  /** The number of a block at or before the time, within `nearEnough` of the last such block; 0 when there is none. */
  async findBlockBefore(
    rpc: EvmRpc,
    time: number,
    head: EvmBlock,
    nearEnough = NEAR_ENOUGH_BLOCKS,
  ): Promise<number> {
    let after = this.#firstAfter(time, { number: Number(head.number), time: Number(head.timestamp) });
    if (after.time <= time) return after.number;
    let before = this.#lastBefore(time, after.number);
    let step = SAMPLE_BLOCKS;
    while (before === undefined && after.number > 0) {
      const block = await this.#read(rpc, Math.max(after.number - step, 0));
      if (block.time <= time) {
        before = block;
        break;
      }
      // The measured pace plus a fifth, but at least twice the last step: block times are irregular.
      step = Math.max(Math.ceil(1.2 * blocksBetween(block, after, block.time - time)), step * 2);
      after = block;
    }
    if (before === undefined) return 0;
    for (let tried = 0; after.number - before.number > nearEnough; tried += 1) {
      const between = tried % 2 === 0 ? byPace(before, after, time) : halfway(before, after);
      const middle = await this.#read(rpc, between);
      if (middle.time <= time) before = middle;
      else after = middle;
    }
    return before.number;
  }

  async #read(rpc: EvmRpc, number: number): Promise<Found> {
    const block = await readBlock(rpc, number);
    if (Number.isFinite(block.time)) this.#times.set(number, block.time);
    const [oldestSample] = this.#times.keys();
    if (this.#times.size > MOST_SAMPLES && oldestSample !== undefined) this.#times.delete(oldestSample);
    return block;
  }

  #firstAfter(time: number, head: Found): Found {
    let first = head;
    for (const [number, blockTime] of this.#times)
      if (blockTime > time && number < first.number) first = { number, time: blockTime };
    return first;
  }

  #lastBefore(time: number, upTo: number): Found | undefined {
    let last: Found | undefined;
    for (const [number, blockTime] of this.#times)
      if (blockTime <= time && number < upTo && number > (last?.number ?? -1))
        last = { number, time: blockTime };
    return last;
  }
}

/** A pruned block counts as older than any timestamp. */
async function readBlock(rpc: EvmRpc, number: number): Promise<Found> {
  const tooOld = { number, time: Number.NEGATIVE_INFINITY };
  try {
    const block = await rpc.findBlock(BigInt(number));
    return block === undefined ? tooOld : { number, time: Number(block.timestamp) };
  } catch (error) {
    const { kind } = readRpcError(error);
    if (kind === 'behind' || kind === 'refused') return tooOld;
    throw error;
  }
}

function blocksBetween(before: Found, after: Found, seconds: number): number {
  return (seconds * (after.number - before.number)) / Math.max(after.time - before.time, 1);
}

function byPace(before: Found, after: Found, time: number): number {
  const guess = before.number + Math.floor(blocksBetween(before, after, time - before.time));
  if (!Number.isFinite(before.time)) return halfway(before, after);
  // Slightly early, so that the wanted block is bounded from both sides.
  return Math.min(Math.max(guess - NEAR_ENOUGH_BLOCKS / 4, before.number + 1), after.number - 1);
}

function halfway(before: Found, after: Found): number {
  return Math.floor((before.number + after.number) / 2);
}
