import { tokensText } from './accepts.js';
import { contrast, parseColor } from './brand.js';
import { escapeHtml } from './markup.js';
import type { PageView } from './page-view.js';
import { fill } from './words/words.js';

const DEFAULT_COLOR = '#2451d6';

/**
 * The icon of the browser tab, and a chat's preview of a link: merchant, amount and tokens. Nothing of the buyer is in them.
 * `title`: escaped.
 */
export function head(view: PageView, title: string): string {
  const { session, link, language, formats } = view;
  const { name, logo_url: logo, brand_color: color } = session.merchant;
  const amount = formats.dollars(session.amount_total);
  const paidWith =
    view.entries.length === 0 ? '' : ` · ${fill(language.words.payWithTokens, { tokens: tokensText(view) })}`;
  const tags: [property: string, escaped: string][] = [
    ['title', title],
    ['description', escapeHtml(`${amount}${paidWith}`)],
    ...(logo === null ? [] : [['image', escapeHtml(`${link}/images/logo`)] as [string, string]]),
  ];
  const properties = tags.map(
    ([property, content]) => `<meta property="og:${property}" content="${content}">`,
  );
  return [`<link rel="icon" href="${icon(name, color ?? DEFAULT_COLOR)}">`, ...properties].join('\n');
}

/** The merchant's initial on his colour, as an image inside the document: it takes no request. */
function icon(name: string, color: string): string {
  const [initial = '?'] = [...name.trim().toUpperCase()];
  const ground = parseColor(color) ?? [0, 0, 0];
  const ink = contrast(ground, [255, 255, 255]) >= contrast(ground, [0, 0, 0]) ? '#fff' : '#000';
  const letter = encodeURIComponent(escapeHtml(initial));
  return `data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 9 9'%3E%3Crect width='9' height='9' rx='2' fill='${encodeURIComponent(color)}'/%3E%3Ctext x='4.5' y='6.6' text-anchor='middle' font-size='6' fill='${encodeURIComponent(ink)}'%3E${letter}%3C/text%3E%3C/svg%3E`;
}
