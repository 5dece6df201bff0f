import type { Payable } from '../../shared/payables/model.js';
import { isRefund } from '../../shared/refunds/model.js';
import { presentRefund, type WireRefund } from '../../shared/refunds/present.js';
import { visibleText } from '../../shared/values/visible-text.js';
import type { Language } from './language.js';
import { inRefundWords, type RefundWords } from './words/refund-words.js';

/** Data that the page of a refund shows in addition to that of a session. */
export interface RefundView {
  words: RefundWords;
  refund: Omit<WireRefund, 'metadata'>;
  /** The merchant's reference for the order. */
  order: string | null;
}

export function refundView(
  payable: Payable,
  { refundWords: words }: Language,
  baseUrl: string,
): RefundView | undefined {
  if (!isRefund(payable)) return undefined;
  const { reference } = payable.refund;
  const order = reference === null ? null : visibleText(reference);
  return { words, refund: presentRefund(payable, baseUrl), order };
}

/** The language with its texts for refunds. */
export function languageOf(language: Language, refund: RefundView | undefined): Language {
  return refund === undefined
    ? language
    : { ...language, words: inRefundWords(language.words, refund.words) };
}
