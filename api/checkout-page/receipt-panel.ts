import type { WirePayment } from '../../shared/payments/present.js';
import { code, escapeHtml, facts, icon, link, phrase, shortened, time } from './markup.js';
import type { PageView } from './page-view.js';
import { refundFacts } from './refund-facts.js';
import { fill } from './words/words.js';

/** The receipt of a paid session, to read, print and return to. */
export function receiptPanel(view: PageView, payment: WirePayment): string {
  const { session, formats } = view;
  const { words } = view.language;
  const merchant = session.merchant.name;
  const label = (word: string): string => escapeHtml(word);
  const paidIn = formats.tokens(payment.token_amount, payment.token_decimals, payment.token);
  const rows: [string, string][] = [
    [label(words.amount), escapeHtml(formats.dollars(payment.amount))],
    [label(words.paidIn), escapeHtml(paidIn)],
    [label(words.network), escapeHtml(payment.network_name)],
    [label(words.transaction), transaction(view, payment)],
    ...(payment.payer === null
      ? []
      : [[label(words.paidFrom), shortened(payment.payer)] as [string, string]]),
    [label(words.time), time(view, payment.settled_at ?? payment.created)],
    [label(words.merchant), `<bdi>${escapeHtml(merchant)}</bdi>`],
    ...(view.refund === undefined ? [] : refundFacts(view.refund, view.language)),
    [label(words.reference), code(session.id)],
  ];
  return `<div id="notice" role="alert"></div>
<div class="state paid">${icon('done')}
<h2 id="state" tabindex="-1">${escapeHtml(words.paid)}</h2>
<p>${phrase(words, 'paidText', { merchant })}</p>
${session.success_url === null ? '' : `<p class="leave">${link(session.success_url, `<span>${phrase(words, 'continueTo', { merchant })}</span>`, 'button')}</p><p id="redirect" class="detail" hidden></p>`}
</div>
<section class="receipt" aria-labelledby="receipt"><h3 id="receipt">${escapeHtml(words.receipt)}</h3>
${facts(rows)}
${view.surplus.map((other) => surplus(view, other)).join('\n')}
<div class="actions">${link(mailUrl(view, paidIn), escapeHtml(words.mail), 'button quiet')}<span data-script hidden><button type="button" class="quiet" id="print">${escapeHtml(words.print)}</button></span><button type="button" class="quiet" id="share" hidden>${escapeHtml(words.share)}</button></div>
</section>`;
}

/** The buyer's mail program writes the mail, so the service learns no address. */
function mailUrl({ session, link: address, language: { words } }: PageView, amount: string): string {
  const values = { amount, merchant: session.merchant.name };
  const [subject, text] = [fill(words.mailSubject, values), fill(words.mailText, values)];
  return `mailto:?subject=${encodeURIComponent(subject)}&body=${encodeURIComponent(`${text}\r\n\r\n${address}\r\n`)}`;
}

/** A payment in addition to the payment that completed the session: the buyer can ask for it back. */
function surplus(view: PageView, payment: WirePayment): string {
  const { session, formats, language } = view;
  const { words } = language;
  const paidIn = formats.tokens(payment.token_amount, payment.token_decimals, payment.token);
  const rows: [string, string][] = [
    [escapeHtml(words.reference), code(payment.id)],
    [escapeHtml(words.amount), escapeHtml(formats.dollars(payment.amount))],
    [escapeHtml(words.paidIn), escapeHtml(paidIn)],
    [escapeHtml(words.network), escapeHtml(payment.network_name)],
    [escapeHtml(words.transaction), transaction(view, payment)],
    [escapeHtml(words.time), time(view, payment.settled_at ?? payment.created)],
  ];
  return `<div class="late" data-surplus><h3>${escapeHtml(words.surplus)}</h3>
<p>${phrase(words, 'surplusText', { merchant: session.merchant.name })}</p>
${facts(rows)}</div>`;
}

function transaction(
  { language }: PageView,
  { transaction: hash, transaction_url: url }: WirePayment,
): string {
  if (hash === null) return '–';
  if (url === null) return shortened(hash);
  const label = escapeHtml(language.words.seeTransaction);
  return `<a href="${escapeHtml(url)}" target="_blank" rel="noopener noreferrer"><span class="visually-hidden">${label}: </span>${shortened(hash)}</a>`;
}
