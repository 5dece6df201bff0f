import { RpcError } from '../../world/chains/rpc-error.js';
import type { LandedTransaction } from './records.js';
import type { RpcOptions } from './rpc-params.js';
import { type Commitment, commitmentOf, type Delays, isAtLeast, newestSlot } from './slots.js';

export type MethodTable = Record<string, (params: readonly unknown[]) => unknown>;

const BEHIND_MIN_CONTEXT_SLOT = -32016;

/** Answers which slot, and which transactions, a request sees at its commitment. */
export class RpcContext {
  readonly delays: Delays;

  constructor(delays: Delays) {
    this.delays = delays;
  }

  /** Throws when the node has not reached `minContextSlot`. */
  slotOf({ commitment = 'finalized', minContextSlot = 0 }: RpcOptions): number {
    const slot = newestSlot(commitment, this.delays);
    if (slot < minContextSlot)
      throw new RpcError(BEHIND_MIN_CONTEXT_SLOT, 'Minimum context slot has not been reached');
    return slot;
  }

  /** Wraps a value in Solana's `{ context, value }`. */
  wrap(options: RpcOptions, value: unknown): object {
    return { context: { apiVersion: '3.0.0', slot: this.slotOf(options) }, value };
  }

  commitmentOf({ landedAtMs }: LandedTransaction): Commitment {
    return commitmentOf(landedAtMs, this.delays);
  }

  isVisible(landed: LandedTransaction, { commitment = 'finalized' }: RpcOptions): boolean {
    return isAtLeast(this.commitmentOf(landed), commitment);
  }
}
