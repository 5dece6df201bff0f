import type { PublicSession } from '../../shared/checkout-sessions/present-public.js';
import type { Formats } from './format.js';
import type { Language } from './language.js';
import { code, escapeHtml, facts, shortened } from './markup.js';
import type { PageState } from './page-state.js';
import type { RefundView } from './refund-view.js';
import { fill } from './words/words.js';

interface Summarized {
  formats: Formats;
  language: Language;
  session: PublicSession;
  state: PageState;
}

/** Summary of a refund: amount, receiver and order. */
export function refundSummary({ formats, language, session, state }: Summarized, view: RefundView): string {
  const { words, refund, order } = view;
  const what = fill(escapeHtml(order === null ? words.whatWithoutOrder : words.what), {
    amount: `<bdi>${escapeHtml(formats.tokens(refund.token_amount, refund.token_decimals, refund.token))}</bdi>`,
    wallet: shortened(refund.pay_to),
    merchant: `<bdi>${escapeHtml(session.merchant.name)}</bdi>`,
    order: `<bdi>${escapeHtml(order ?? '')}</bdi>`,
  });
  // The receipt of a complete refund lists these facts itself.
  const known = state.kind === 'complete' ? '' : facts(refundFacts(view, language));
  return `<p><strong>${what}</strong></p>\n${known}`;
}

/** Facts shown before the refund is paid and on its receipt. */
export function refundFacts({ words, refund }: RefundView, language: Language): [string, string][] {
  return [
    [escapeHtml(language.words.goesTo), code(refund.pay_to)],
    [escapeHtml(words.ofPayment), code(refund.payment)],
    ...(refund.reason === null
      ? []
      : [[escapeHtml(words.reason), escapeHtml(words[refund.reason])] as [string, string]]),
  ];
}
