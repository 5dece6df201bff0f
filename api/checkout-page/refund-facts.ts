import { visibleWords } from '../../shared/domain/visible-words.js';
import type { Payable } from '../../shared/models/payable.js';
import type { PublicSession } from '../../shared/presenters/public-session.js';
import { isRefund, presentRefund, type WireRefund } from '../../shared/presenters/refund.js';
import type { Formats } from './format.js';
import type { Language } from './language.js';
import { code, escapeHtml, facts, shortened } from './markup.js';
import type { PageState } from './page-state.js';
import { inRefundWords, REFUND_WORDS, type RefundWords } from './words/refund-words.js';
import { fill } from './words/words.js';

/** What the page of a refund shows beyond that of a session. */
export interface RefundView {
  words: RefundWords;
  refund: Omit<WireRefund, 'metadata'>;
  /** The merchant's own word for the order. */
  order: string | null;
}

export function refundView(payable: Payable, { tag }: Language, baseUrl: string): RefundView | undefined {
  if (!isRefund(payable)) return undefined;
  const words = REFUND_WORDS[tag];
  if (words === undefined) throw new Error(`no words for a refund in ${tag}`);
  const { reference } = payable.refund;
  const order = reference === null ? null : visibleWords(reference);
  return { words, refund: presentRefund(payable, baseUrl), order };
}

/** The page's language as it speaks of a refund. */
export function languageOf(language: Language, refund: RefundView | undefined): Language {
  return refund === undefined
    ? language
    : { ...language, words: inRefundWords(language.words, refund.words) };
}

interface Summarized {
  formats: Formats;
  language: Language;
  session: PublicSession;
  state: PageState;
}

/** What it is, to whom and why, before anything is signed. */
export function refundSummary({ formats, language, session, state }: Summarized, view: RefundView): string {
  const { words, refund, order } = view;
  const what = fill(escapeHtml(order === null ? words.whatWithoutOrder : words.what), {
    amount: `<bdi>${escapeHtml(formats.tokens(refund.token_amount, refund.token_decimals, refund.token))}</bdi>`,
    wallet: shortened(refund.pay_to),
    merchant: `<bdi>${escapeHtml(session.merchant.name)}</bdi>`,
    order: `<bdi>${escapeHtml(order ?? '')}</bdi>`,
  });
  // A receipt has them by itself.
  const known = state.kind === 'complete' ? '' : facts(refundFacts(view, language));
  return `<p><strong>${what}</strong></p>\n${known}`;
}

/** What is known of it but what it is: before it is paid, and on its receipt. */
export function refundFacts({ words, refund }: RefundView, language: Language): [string, string][] {
  return [
    [escapeHtml(language.words.goesTo), code(refund.pay_to)],
    [escapeHtml(words.ofPayment), code(refund.payment)],
    ...(refund.reason === null
      ? []
      : [[escapeHtml(words.reason), escapeHtml(words[refund.reason])] as [string, string]]),
  ];
}
