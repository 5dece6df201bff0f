import type { SearchPosition } from './search-position.js';

/**
 * The result of one chain check of one payment. Only `paid` proves payment. Only `spent_otherwise` and an exhausted
 * `unused` prove that no payment can come. All others change only the time of the next check. An unfinished search proves
 * nothing: it is `searching` or `used`; `unreadable` is an endpoint that answered nothing about the payment.
 */
export type ChainFinding =
  | {
      kind: 'paid';
      transaction: string;
      /** EVM: the block's number. Solana: the slot. */
      height: number;
      /** EVM: the Transfer's log index in its block. Solana: the instruction's index in the transaction. */
      proofIndex: number;
      /** Undefined when a Solana transaction does not show who paid. */
      payer: string | undefined;
      /**
       * EVM: the number of blocks from the transaction's own to the head, both included, so 1 in the newest block.
       * Solana: 1 confirmed, 2 finalized.
       */
      confirmations: number;
    }
  | {
      kind: 'unused';
      /** The time of the block in whose state the payload was unused. */
      chainTime: Date;
      /** No later block can use the payload any more, nor one that replaces a block without enough confirmations. */
      exhausted: boolean;
      /** Where the next check continues. */
      position?: SearchPosition;
    }
  /** The payload was used by a transaction that does not pay the amount to the merchant, in a block that is certain to stay. */
  | { kind: 'spent_otherwise'; transaction: string }
  /**
   * The transaction is known but may still be dropped. `pays` is false where it does not pay, as always on EVM: its block has
   * fewer confirmations than the network needs.
   */
  | { kind: 'pending'; transaction: string; pays?: false }
  /** The payload was used by a transaction that is not known yet. Whether it paid is open, and no lapse of time decides it. */
  | { kind: 'used'; reason: string; position?: SearchPosition }
  /** The payment was not found so far, with more to search: the next check continues at `position`. Proves nothing. */
  | { kind: 'searching'; reason: string; position?: SearchPosition }
  /**
   * The endpoint answered nothing about the payment. `chainTime` is the newest block's time where it could be read: time
   * on the chain has passed up to there only. `reason` is for logs and never names an endpoint, whose URL may hold a key.
   * `againInMs` says that the endpoint was not asked, since other checks were before this one, and when to come back.
   */
  | { kind: 'unreadable'; reason: string; chainTime?: Date; againInMs?: number };

export type Finding<Kind extends ChainFinding['kind']> = Extract<ChainFinding, { kind: Kind }>;
