import type { RefundReason } from '../../../shared/payables/refund-terms.js';
import type { PayableWords, Words } from './words.js';

/** The texts of a refund page: the texts of every payable, and a few of refunds only. The payer is the merchant. */
export interface RefundWords extends PayableWords, Record<RefundReason, string> {
  what: string;
  whatWithoutOrder: string;
  reason: string;
  ofPayment: string;
}

/** The words of a page whose payable is a refund. */
export function inRefundWords(words: Words, refund: RefundWords): Words {
  return { ...words, ...Object.fromEntries(Object.entries(refund).filter(([word]) => word in words)) };
}
