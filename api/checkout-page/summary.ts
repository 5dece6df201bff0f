import type { ShownItem } from '../../shared/checkout-sessions/present-public.js';
import { accepts } from './accepts.js';
import { escapeHtml, link, phrase } from './markup.js';
import type { PageView } from './page-view.js';
import { refundSummary } from './refund-facts.js';

/** More items are collapsed until they are asked for. */
const SHOWN_ITEMS = 4;
/** More items are collapsed on a phone, where paying comes first. */
const UNFOLDED_ITEMS = 1;
/** An amount is never wrapped; long ones get a smaller font. */
const LONG_AMOUNT = 9;
const LONGEST_AMOUNT = 14;

/** The summary of the order, the same in every state. */
export function summary(view: PageView): string {
  const { session, formats, language } = view;
  const { words } = language;
  const { name } = session.merchant;
  const isPaid = view.state.kind === 'complete';
  // A signed payment cannot be taken back, so the link to the merchant is hidden.
  const isSigned = isPaid || view.state.kind === 'processing';
  const amount = formats.dollars(session.amount_total);
  return `<section class="summary${sizeOf(amount)}">
${session.cancel_url === null || isSigned ? '' : `<p class="back">${link(session.cancel_url, `<span aria-hidden="true">←</span> ${phrase(words, 'back', { merchant: name })}`)}</p>`}
<div class="merchant">${logo(view)}<p>${phrase(words, isPaid ? 'paidMerchant' : 'payMerchant', { merchant: name })}</p>${session.livemode ? '' : `<p class="badge">${escapeHtml(words.testMode)}</p>`}</div>
<h1>${escapeHtml(amount)}</h1>
${accepts(view)}
${session.livemode ? '' : `<p class="note">${escapeHtml(words.testModeNote)}</p>`}
${view.refund === undefined ? items(view) : refundSummary(view, view.refund)}
</section>`;
}

function sizeOf(amount: string): string {
  if (amount.length > LONGEST_AMOUNT) return ' longest';
  return amount.length > LONG_AMOUNT ? ' long' : '';
}

function logo({ session, link: address }: PageView): string {
  if (session.merchant.logo_url === null) return '';
  return `<img class="logo" src="${escapeHtml(`${new URL(address).pathname}/images/logo`)}" alt="" width="40" height="40">`;
}

function items(view: PageView): string {
  const { language, formats } = view;
  const { words } = language;
  const rows = numbered(view.items).map(([item, image]) => row(view, item, image));
  const hidden = rows.slice(SHOWN_ITEMS);
  const shown = hidden.length === 1 ? rows : rows.slice(0, SHOWN_ITEMS);
  const label = escapeHtml(words.items);
  const list = `<ul class="items" aria-label="${label}">\n${shown.join('\n')}\n</ul>${hidden.length <= 1 ? '' : rest(view, hidden)}`;
  if (rows.length <= UNFOLDED_ITEMS) return list;
  return `<details class="fold"><summary>${label} · ${formats.count(rows.length)}</summary></details>
<div class="folded">
${list}
</div>`;
}

/** The list stands beside the <details>, not inside, so that it is printed even when collapsed. */
function rest({ formats, language }: PageView, rows: readonly string[]): string {
  const label = phrase(language.words, 'moreItems', { count: formats.count(rows.length) });
  return `
<details class="more"><summary>${label}</summary></details>
<ul class="items">
${rows.join('\n')}
</ul>`;
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
  }${item.quantity === 1 ? '' : `<p class="each">${phrase(language.words, 'each', each)}</p>`}</div><p class="price">${escapeHtml(formats.dollars(item.amount_total))}</p></li>`;
}

/** Each item with the number of its first image, numbered across all items of the session. */
function numbered(items: readonly ShownItem[]): [ShownItem, number][] {
  let next = 0;
  return items.map((item) => {
    const image = next;
    next += item.image_count;
    return [item, image];
  });
}
