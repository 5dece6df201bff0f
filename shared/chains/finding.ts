import type { SearchPlace } from './search-place.js';

/**
 * What one look at a chain says about one payment. Only `paid` is proof of payment, and only `spent_otherwise` and an
 * exhausted `unused` are proof that none can come; the others change nothing but the time of the next look. What was
 * found decides, never that something was not found: a search that ended early is `searching` or `used`, and only an
 * endpoint that said nothing is `unreadable`.
 */
export type ChainFinding =
  | {
      kind: 'paid';
      transaction: string;
      /** Where in the transaction: EVM the Transfer's log index in its block, Solana the instruction's index. */
      proofIndex: number;
      payer: string;
      /**
       * EVM: the blocks from the transaction's own to the head, both counted, so 1 in the newest block. Solana:
       * 1 confirmed, 2 finalized.
       */
      confirmations: number;
      blockTime: Date;
    }
  | {
      kind: 'unused';
      /** The time of the block up to which this is true. */
      chainTime: Date;
      /** Not used up to that block, and after it no block can use it any more. */
      exhausted: boolean;
      /** What the next look has to know of this one. */
      place?: SearchPlace;
    }
  /** Used up for good by a transaction that does not pay the amount to the merchant. */
  | { kind: 'spent_otherwise'; transaction: string }
  /** Seen, but it may still be dropped. EVM never says so. */
  | { kind: 'pending'; transaction: string }
  /** Used up for good, by what is not known yet: whether it has paid cannot be said, and no time makes it a failure. */
  | { kind: 'used'; reason: string; place?: SearchPlace }
  /** Not found so far, with more to look through: the next look goes on at `place`. Proves nothing. */
  | { kind: 'searching'; reason: string; place?: SearchPlace }
  /**
   * The endpoint said nothing of the payment. `chainTime` is the newest block's time where that much could be read: no
   * time has passed on the chain after it. `reason` is for logs: it names no endpoint, whose address may hold a key.
   */
  | { kind: 'unreadable'; reason: string; chainTime?: Date };

export type Finding<Kind extends ChainFinding['kind']> = Extract<ChainFinding, { kind: Kind }>;
