import { Model } from 'objection';
import type { Account } from '../accounts/model.js';
import type { Payment } from '../payments/model.js';
import { SESSION_FIELDS, type StoredFields } from '../session-fields/fields.js';
import type { RefundTerms } from './refund-terms.js';
import type { ItemSummary, LineItem, SessionStatus } from './states.js';

const JSON_FIELDS = SESSION_FIELDS.filter(({ type }) => type === 'metadata').map(({ property }) => property);

/** The properties that the rows of SESSION_FIELDS declare. */
export interface Payable extends StoredFields {}

/**
 * What a link asks to have paid: a checkout session, or a refund. Claim, verdict, late money, expiry and link know no
 * more of it than this; a view holds each kind by itself (checkout-session.ts, refund.ts).
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: it declares properties, as `declare` does for the others.
export class Payable extends Model {
  static override tableName = 'payables';
  static override jsonAttributes = ['lineItems', 'summary', 'refund', ...JSON_FIELDS];

  declare id: string;
  declare accountId: string;
  declare livemode: boolean;
  declare status: SessionStatus;
  declare amountTotalCents: number;
  /** Left out of reads that do not show them. */
  declare lineItems?: LineItem[];
  /** Null in rows that were written without. */
  declare summary?: ItemSummary | null;
  /** The payment that holds a processing one, or that paid a complete one. */
  declare paymentId: string | null;
  /** The Solana fee payers that this link has offered. */
  declare offeredFeePayers: string[] | null;
  /** Late money that came while another payment was on its way; it completes the payable if that one fails. */
  declare latePaymentId: string | null;
  /** How the last payment failed, and when if it had been answered 202; the next payment clears it. */
  declare failureCode: string | null;
  declare failureAt: Date | null;
  /** The payment that it gives back, and how; of a session there is none. */
  declare refundedPaymentId?: string | null;
  declare refund?: RefundTerms | null;
  declare payment?: Payment | null;
  declare account?: Account;
}
