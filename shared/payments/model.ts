import { Model } from 'objection';
import type { SearchPosition } from '../chains/check/search-position.js';
import type { TokenSymbol } from '../chains/networks/networks.js';
import type { Channel, Observation, PaymentStage, PaymentStatus } from './states.js';

export class Payment extends Model {
  static override tableName = 'payments';
  static override jsonAttributes = ['requirements', 'payload', 'history', 'searchPlace'];

  declare id: string;
  /** The id of a session or of a refund. */
  declare payableId: string;
  declare accountId: string;
  declare livemode: boolean;
  declare status: PaymentStatus;
  declare amountCents: number;
  declare token: TokenSymbol;
  /** Amount in the token's smallest unit; text, since it may exceed 2^53. */
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
  /** The buyer's own name for the payment (x402's `payment-identifier`). */
  declare identifier: string | null;
  /** The facilitator certainly never received the payment, so its payload may claim the same session again. */
  declare payloadReleased: boolean;
  /** This service's own entry of `accepts`, never the buyer's copy of it; the facilitator gets it as it is. */
  declare requirements: object;
  /** The buyer's signed payload, as the facilitator is sent it. */
  declare payload: object;
  /** The time after which the payload, by its own word, can no longer move money. */
  declare validUntil: Date;
  declare claimedAt: Date;
  /** The short name of the facilitator that verified it and settles it; null in rows of an earlier release. */
  declare facilitator: string | null;
  /** When the request with its signature arrived; null in rows of an earlier release. */
  declare arrivedAt: Date | null;

  declare stage: PaymentStage | null;
  declare dueAt: Date | null;
  /** A fencing token: each worker that takes the row raises it, and writes an outcome only while it is unchanged. */
  declare attempt: number;
  /** Crashes of workers on the row since an outcome was last written, and the present taker while there is one. */
  declare lostTakes: number;
  declare settleCalls: number;
  declare settleAskedAt: Date | null;
  /** Null while a call may be in flight. */
  declare settleEndedAt: Date | null;
  /** A call had no clear answer. From then on only the chain or a success decides. */
  declare settleUnclear: boolean;
  /** When a chain check first saw the payload unused, for payloads that stay valid for long. */
  declare unusedSeenAt: Date | null;
  /** The time of the first of the chain checks in a row that could read nothing; of a failed payment, that left it open. */
  declare unreadableSince: Date | null;
  /** When the chain first showed the payload used by a transaction not found yet. A later check that fails keeps it. */
  declare usedSeenAt: Date | null;
  /** Where the next chain check continues the search for the transaction. */
  declare searchPlace: SearchPosition | null;
  /** The transaction that the facilitator reported: a hint, not a proof. */
  declare reportedTransaction: string | null;
  /** The index of the proving log or instruction in the transaction. */
  declare proofIndex: number | null;
  declare failureCode: string | null;
  declare failedAt: Date | null;
  /** The buyer was answered 202. */
  declare answeredProcessing: boolean;
  /** The payment succeeded for a session that another payment had already paid. */
  declare surplus: boolean;
  /** The trace context of the request that claimed; undefined or null while tracing is off. */
  declare trace?: string | null;
  declare history: Observation[];
}
