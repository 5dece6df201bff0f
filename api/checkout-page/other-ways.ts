import { escapeHtml, link, phrase } from './markup.js';
import type { PageView } from './page-view.js';
import { type AppLink, WITHOUT_A_BROWSER, WITHOUT_A_LINK, walletApps } from './wallet-apps.js';

function appsOf(view: PageView): AppLink[] {
  return walletApps(view.ownUrl, new Set(view.entries.map(({ family }) => family)));
}

/** Links that open this page in the browser of a wallet's app, for a phone whose own browser has no wallet. */
export function phoneApps(view: PageView): string {
  const links = appsOf(view).map(
    ({ key, name, url }) => `<li>${link(url, `${view.marks.wallet(key)}${escapeHtml(name)}`)}</li>`,
  );
  return `<div class="apps"><h3>${escapeHtml(view.language.words.phoneWallets)}</h3><ul>${links.join('')}</ul></div>`;
}

/** Alternatives for buyers without a wallet in this browser: a phone, the browser of a wallet app, the link itself. */
export function otherWays(view: PageView): string {
  const { words } = view.language;
  const token = view.entries[0]?.token ?? '';
  const { formats } = view;
  return `<details class="ways" id="ways"><summary>${escapeHtml(words.noWallet)}</summary>
${scan(view)}
<p class="copy" data-script hidden><button type="button" class="quiet" data-copy="${escapeHtml(view.link)}">${escapeHtml(words.copyLink)}</button></p>
<p>${phrase(words, 'noWalletText', { token })}</p>
<p>${phrase(words, 'pasteLink', { wallets: formats.all(WITHOUT_A_LINK) })}</p>
<p>${phrase(words, 'walletConnect', { wallets: formats.all(WITHOUT_A_BROWSER) })}</p>
<h3>${escapeHtml(words.exchange)}</h3><p>${escapeHtml(words.exchangeText)}</p>
</details>`;
}

/** Codes are images of their own, loaded when they are shown: together they are longer than the page. */
function scan(view: PageView): string {
  const { words } = view.language;
  const { pathname, search } = new URL(view.ownUrl);
  const code = (name: string, alt: string): string =>
    `<img class="qr" src="${escapeHtml(`${pathname}/images/${name}${search}`)}" alt="${escapeHtml(alt)}" width="208" height="208" loading="lazy">`;
  const codes = appsOf(view).map(
    ({ key, name }) =>
      `<details name="code"><summary>${view.marks.wallet(key)}<span>${escapeHtml(name)}</span></summary>${code(`qr-${key}`, `${words.qrCode}: ${name}`)}</details>`,
  );
  return `<div class="scan"><h3>${escapeHtml(words.scan)}</h3><p data-script hidden>${escapeHtml(words.scanText)}</p>${code('qr', words.qrCode)}
<h3>${escapeHtml(words.scanApp)}</h3><div class="codes">${codes.join('')}</div></div>`;
}
