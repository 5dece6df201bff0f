import type { UncertainPayment } from '../../shared/x402/failure-codes.js';
import { supportLine } from './footer.js';
import { code, escapeHtml, icon, phrase } from './markup.js';
import type { PageView } from './page-view.js';

/**
 * The warning that a payment may have been taken: whom to ask, and under which reference. It is hidden while there is no such
 * payment: the script shows it when a payment that it sent is uncertain.
 */
export function uncertainNotice(view: PageView): string {
  const { session, language } = view;
  const { words } = language;
  const uncertain = uncertainOf(view);
  const { paymentId } = uncertain ?? {};
  const read = escapeHtml(words.uncertainRead);
  return `<div id="uncertain" role="alert"${uncertain === undefined ? ' hidden' : ''}${paymentId === undefined ? '' : ` data-payment="${escapeHtml(paymentId)}"`}>
<div class="notice failed">${icon('failed')}<div><h2 id="uncertain-title" tabindex="-1">${escapeHtml(words.uncertain)}</h2>
<p id="uncertain-why" hidden></p>
<p>${phrase(words, 'uncertainText', { merchant: session.merchant.name })}</p>
<p><strong id="uncertain-reference">${code(paymentId ?? session.id)}</strong></p>
${view.refund === undefined ? supportLine(view) : ''}
<p id="uncertain-again" hidden></p>
${view.state.kind === 'open' ? `<p id="uncertain-read" data-script hidden><button type="button" class="quiet">${read}</button></p>` : ''}
</div></div></div>`;
}

export function uncertainOf({ state }: Pick<PageView, 'state'>): UncertainPayment | undefined {
  return 'uncertain' in state ? state.uncertain : undefined;
}
