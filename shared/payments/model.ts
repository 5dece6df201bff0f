import { Model } from 'objection';
import type { SearchPlace } from '../chains/search-place.js';
import type { Channel, Observation, PaymentStage, PaymentStatus, Token } from './states.js';

export class Payment extends Model {
  static override tableName = 'payments';
  static override jsonAttributes = ['requirements', 'payload', 'history', 'searchPlace'];

  declare id: string;
  /** The payable's: a session's id, or a refund's. */
  declare checkoutSessionId: string;
  declare accountId: string;
  declare livemode: boolean;
  declare status: PaymentStatus;
  declare amountCents: number;
  declare token: Token;
  /** In the token's smallest unit; text, since it may exceed 2^53. */
  declare tokenAmount: string;
  declare tokenDecimals: number;
  /** CAIP-2. */
  declare network: string;
  /** Token contract or mint. */
  declare asset: string;
  declare payer: string | null;
  declare payTo: string;
  declare channel: Channel;
  declare transaction: string | null;
  declare settledAt: Date | null;

  declare payloadKey: string;
  /** The buyer's own name for it (x402's `payment-identifier`). */
  declare identifier: string | null;
  /** The payment surely never reached the facilitator: its payload may claim the same session again. */
  declare payloadReleased: boolean;
  /** Our own entry of `accepts`, and the buyer's signed payload: what the facilitator is sent. */
  declare requirements: object;
  declare payload: object;
  /** Until when the payload can move money, as far as it tells. */
  declare validUntil: Date;
  declare claimedAt: Date;

  declare stage: PaymentStage | null;
  declare dueAt: Date | null;
  /** Raised by whoever takes the row; outcomes are written only by the latest taker. */
  declare attempt: number;
  /** Takers since an outcome was last written, the present one included. */
  declare lostTakes: number;
  declare settleCalls: number;
  declare settleAskedAt: Date | null;
  /** Null while a call may be in flight. */
  declare settleEndedAt: Date | null;
  /** Some call had no clear answer: from then on only the chain, or a success, decides. */
  declare settleUnclear: boolean;
  /** The first of the looks that saw the payload unused when its end is far away. */
  declare unusedSeenAt: Date | null;
  /** Since when every look at its chain has failed; null when the last one did not. */
  declare unreadableSince: Date | null;
  /** Since when the chain says that it is used, by what is not known yet; whatever cannot be read later changes nothing of that. */
  declare usedSeenAt: Date | null;
  /** Where the search for its transaction goes on at the next look. */
  declare searchPlace: SearchPlace | null;
  /** What the facilitator called its transaction; a hint, not a proof. */
  declare reportedTransaction: string | null;
  /** Where in the transaction the chain's proof lies. */
  declare proofIndex: number | null;
  declare failureCode: string | null;
  declare failedAt: Date | null;
  /** The buyer was answered 202. */
  declare answeredProcessing: boolean;
  /** It came for a session that another payment had paid. */
  declare surplus: boolean;
  /** Where the request that claimed stands in its trace; undefined or null while traces are off. */
  declare trace?: string | null;
  declare history: Observation[];
}
