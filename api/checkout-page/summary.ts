import type { ShownItem } from '../../shared/presenters/public-session.js';
import { escapeHtml, link, say } from './markup.js';
import type { PageView } from './page-view.js';
import { refundSummary } from './refund-facts.js';

/** More than these would push the payment off a phone's screen. */
const SHOWN_ITEMS = 4;

/** What is paid for: the same in every state, the amount the largest thing on the page. */
export function summary(view: PageView): string {
  const { session, formats, language } = view;
  const { words } = language;
  const { name } = session.merchant;
  const isPaid = view.state.kind === 'complete';
  return `<section class="summary">
${session.cancel_url === null || isPaid ? '' : `<p class="back">${link(session.cancel_url, `<span aria-hidden="true">←</span> ${say(words, 'back', { merchant: name })}`)}</p>`}
<div class="merchant">${logo(view)}<p>${say(words, isPaid ? 'paidMerchant' : 'payMerchant', { merchant: name })}</p>${session.livemode ? '' : `<p class="badge">${escapeHtml(words.testMode)}</p>`}</div>
<h1>${escapeHtml(formats.dollars(session.amount_total))}</h1>
${session.livemode ? '' : `<p class="note">${escapeHtml(words.testModeNote)}</p>`}
${view.refund === undefined ? items(view) : refundSummary(view, view.refund)}
</section>`;
}

function logo({ session, link: address }: PageView): string {
  if (session.merchant.logo_url === null) return '';
  return `<img class="logo" src="${escapeHtml(`${new URL(address).pathname}/images/logo`)}" alt="" width="48" height="48">`;
}

function items(view: PageView): string {
  const { language, formats } = view;
  const { words } = language;
  const rows = numbered(view.items).map(([item, image]) => row(view, item, image));
  const hidden = rows.slice(SHOWN_ITEMS);
  const shown = hidden.length === 1 ? rows : rows.slice(0, SHOWN_ITEMS);
  const label = escapeHtml(words.items);
  const list = `<ul class="items" aria-label="${label}">\n${shown.join('\n')}\n</ul>`;
  if (hidden.length <= 1) return list;
  return `${list}
<details class="more"><summary>${say(words, 'moreItems', { count: formats.count(hidden.length) })}</summary>
<ul class="items">
${hidden.join('\n')}
</ul></details>`;
}

function row({ formats, language, link: address }: PageView, item: ShownItem, image: number): string {
  const path = new URL(address).pathname;
  const picture =
    item.image_count === 0
      ? ''
      : `<img src="${escapeHtml(`${path}/images/${image}`)}" alt="" width="44" height="44" loading="lazy">`;
  const each = {
    quantity: formats.count(item.quantity),
    price: formats.dollars(item.unit_amount),
  };
  return `<li>${picture}<div class="item"><p class="name"><bdi>${escapeHtml(item.name)}</bdi></p>${
    item.description === null ? '' : `<p class="description"><bdi>${escapeHtml(item.description)}</bdi></p>`
  }${item.quantity === 1 ? '' : `<p class="each">${say(language.words, 'each', each)}</p>`}</div><p class="price">${escapeHtml(formats.dollars(item.amount_total))}</p></li>`;
}

/** Each item with the number of its first image, counted over all images of the session. */
function numbered(items: readonly ShownItem[]): [ShownItem, number][] {
  let next = 0;
  return items.map((item) => {
    const image = next;
    next += item.image_count;
    return [item, image];
  });
}
