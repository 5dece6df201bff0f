import { escapeHtml } from './markup.js';
import type { PayableEntry } from './page-data.js';
import type { PageView } from './page-view.js';
import { uncertainOf } from './uncertain-notice.js';
import { fill } from './words/words.js';

/** More names would take more than one line. */
const NAMED_NETWORKS = 3;

/**
 * The line below the amount: which tokens are taken on which networks, or the entry that will be paid. The choice of token
 * and network opens from it. Without scripts it only tells.
 */
export function accepts(view: PageView): string {
  const { entries, marks, language } = view;
  const [only, ...others] = entries;
  if (only === undefined) return '';
  const isHidden = uncertainOf(view) === undefined ? '' : ' hidden';
  if (others.length === 0) {
    const text = fill(language.words.tokenOn, { token: only.token, network: only.networkName });
    return `<p class="accepts" id="accepts"${isHidden}><span class="line">${marksOf(view, only)}${twoRows(text, '')}</span></p>`;
  }
  const tokens = [...new Set(entries.map(({ token }) => token))]
    .slice(0, 2)
    .map((token) => marks.token(token));
  const networks = networksOf(entries)
    .slice(0, 2)
    .map(({ accepted }) => marks.network(accepted.network));
  const rows = entries.map(
    (entry, index) =>
      `<label><input type="radio" name="entry" value="${index}">${marksOf(view, entry)}<span class="entry">${escapeHtml(`${entry.networkName} · ${entry.token}`)}</span> <span class="held"></span></label>`,
  );
  return `<details class="accepts" id="accepts"${isHidden}><summary><span class="line"><span class="marks">${[...tokens, ...networks].join('')}</span>${twoRows(tokensText(view), networksText(view))}</span></summary>
<fieldset id="entries" disabled><legend>${escapeHtml(language.words.choice)}</legend>${rows.join('')}</fieldset></details>`;
}

/** The second row is empty while the first says all. */
function twoRows(first: string, second: string): string {
  return `<span id="accepted"><span>${escapeHtml(first)}</span><span class="visually-hidden"> · </span><small>${escapeHtml(second)}</small></span>`;
}

/** `Base, Solana, Polygon and 6 more`. */
function networksText({ entries, formats, language: { words } }: PageView): string {
  const networks = networksOf(entries).map(({ networkName }) => networkName);
  const more = networks.length - NAMED_NETWORKS;
  const named =
    more > 1
      ? [...networks.slice(0, NAMED_NETWORKS), fill(words.andMore, { count: formats.count(more) })]
      : networks;
  return formats.all(named);
}

/** `USDC or USDT`. */
export function tokensText({ entries, formats }: Pick<PageView, 'entries' | 'formats'>): string {
  return formats.either([...new Set(entries.map(({ token }) => token))]);
}

function networksOf(entries: readonly PayableEntry[]): PayableEntry[] {
  const names = new Set<string>();
  return entries.filter(({ networkName }) => !names.has(networkName) && names.add(networkName));
}

function marksOf({ marks }: PageView, { token, accepted }: PayableEntry): string {
  return `<span class="marks">${marks.token(token)}${marks.network(accepted.network)}</span>`;
}
