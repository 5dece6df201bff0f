import type { Look } from './look.js';
import { readRefusal } from './refusal.js';
import { ChainUnreadable } from './unreadable.js';

/** An answer of a node that has not got yet what another node of the same address has told of. */
export class LaggingNode extends ChainUnreadable {}

const TRIES = 6;
const TRIES_AT_ONCE = 3;

/** Asks again while a node is behind: another one may answer, or the same a moment later. */
export async function untilCaughtUp<T>(look: Look, ask: () => Promise<T>): Promise<T> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await ask();
    } catch (error) {
      const isBehind = error instanceof LaggingNode || readRefusal(error).kind === 'behind';
      if (tried === TRIES || look.isEnding || !isBehind) throw error;
    }
    if (tried >= TRIES_AT_ONCE) await look.pause();
  }
}
