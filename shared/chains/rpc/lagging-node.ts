import type { ChainCheck } from '../check/chain-check.js';
import { ChainUnreadable } from '../check/unreadable.js';
import { readRpcError } from './rpc-error.js';

/** A node answered without data that another node behind the same URL has already returned. */
export class LaggingNode extends ChainUnreadable {}

const TRIES = 6;
const TRIES_AT_ONCE = 3;

/** Retries while a node is behind: another node may answer, or the same one a moment later. */
export async function retryWhileBehind<T>(check: ChainCheck, ask: () => Promise<T>): Promise<T> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await ask();
    } catch (error) {
      const isBehind = error instanceof LaggingNode || readRpcError(error).kind === 'behind';
      if (tried === TRIES || check.isEnding || !isBehind) throw error;
    }
    if (tried >= TRIES_AT_ONCE) await check.pause();
  }
}
