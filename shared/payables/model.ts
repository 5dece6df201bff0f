import { Model } from 'objection';
import type { Account } from '../accounts/model.js';
import type { Payment } from '../payments/model.js';
import { SESSION_FIELDS, type StoredFields } from '../session-fields/fields.js';
import type { ItemSummary, LineItem } from './line-items.js';
import type { RefundTerms } from './refund-terms.js';
import type { PayableStatus } from './states.js';

const JSON_FIELDS = SESSION_FIELDS.filter(({ type }) => type === 'metadata').map(({ property }) => property);

/** A model with the properties that the rows of SESSION_FIELDS declare. */
const WithSessionFields = Model as Omit<typeof Model, 'prototype'> & (new () => Model & StoredFields);

/**
 * A checkout session or a refund: an object whose link asks to be paid. Claim, settlement, expiry and the payment link
 * work on this table. The views `checkout_sessions` and `refunds` hold one kind each, and have models of their own.
 */
export class Payable extends WithSessionFields {
  static override tableName = 'payables';
  static override jsonAttributes = ['lineItems', 'summary', 'refund', ...JSON_FIELDS];

  declare id: string;
  declare accountId: string;
  declare livemode: boolean;
  declare status: PayableStatus;
  declare amountTotalCents: number;
  /** Undefined in reads that do not show line items. */
  declare lineItems?: LineItem[];
  /** Null in rows of older releases. */
  declare summary?: ItemSummary | null;
  /** The payment that claimed a processing payable, or that paid a complete one. */
  declare paymentId: string | null;
  /** The Solana fee payers that this link has offered. */
  declare offeredFeePayers: string[] | null;
  /** A payment that succeeded late, while another payment was in flight. It completes the payable if the other one fails. */
  declare latePaymentId: string | null;
  /** Why the last payment failed. The next payment clears this and `failureAt`. */
  declare failureCode: string | null;
  /** The time of that failure; set only when the buyer's request was answered 202. */
  declare failureAt: Date | null;
  /** The payment that a refund gives back; null in a session. */
  declare refundedPaymentId?: string | null;
  declare refund?: RefundTerms | null;
  declare payment?: Payment | null;
  declare account?: Account;
}
