import { escapeHtml, facts, icon, say, sayPlainly, shortened, time } from './markup.js';
import type { PayableEntry } from './page-data.js';
import { isInLastQuarter, type PageView } from './page-view.js';
import { qrCode } from './qr-code.js';
import { walletApps } from './wallet-apps.js';
import { causeOfCode, NEXT_STEPS } from './words/causes.js';

/** Stands for markup that is filled in once the words around it are escaped. */
const GAP = '\u0000';

/**
 * The payment itself. Readable without the script, which fills #wallets and keeps the facts to the chosen entry.
 */
export function openPanel(view: PageView, failureCode: string | undefined): string {
  const { words } = view.language;
  const [first] = view.entries;
  if (first === undefined) throw new Error('an open page without an entry');
  return `<div id="notice" role="alert">${failureCode === undefined ? '' : failureNotice(view, failureCode)}</div>
<div id="step" hidden></div>
<div id="choose">
<h2 id="state" tabindex="-1">${escapeHtml(words.payHeading)}</h2>
${choice(view)}
${entryFacts(view)}
${isInLastQuarter(view) ? `<p class="countdown" id="countdown" role="timer">${say(words, 'payBefore', { time: view.formats.time(view.session.expires_at) })}</p>` : '<p class="countdown" id="countdown" role="timer" hidden></p>'}
<div id="wallets"></div>
<noscript><p class="notice">${escapeHtml(words.noScript)}</p></noscript>
${otherWays(view, first)}
</div>`;
}

/** All rows are folded away until the script knows which of them the buyer can pay. */
function choice({ entries, language: { words } }: PageView): string {
  const rows = entries.map(
    ({ networkName, token }, index) =>
      `<label><input type="radio" name="entry" value="${index}" autocomplete="off"><span>${escapeHtml(`${networkName} · ${token}`)}<span class="held"></span></span></label>`,
  );
  return `<fieldset class="field" id="entries" data-script hidden><legend>${escapeHtml(words.choice)}</legend>
<div id="entries-shown"></div>
<details id="other-entries"><summary>${escapeHtml(words.chooseEntry)}</summary><div id="entries-folded">${rows.join('')}</div></details>
</fieldset>`;
}

/** No more than what holds for every entry: which one it will be depends on the wallet. */
function entryFacts({ language: { words }, entries, session, formats }: PageView): string {
  const one = (values: readonly string[], otherwise: string): string =>
    values.every((value) => value === values[0]) ? (values[0] ?? otherwise) : otherwise;
  const amount = one(
    entries.map((entry) => entry.amount),
    formats.dollars(session.amount_total),
  );
  const network = one(
    entries.map(({ networkName }) => networkName),
    words.anyNetwork,
  );
  const payTo = one(
    entries.map(({ accepted }) => accepted.payTo),
    '',
  );
  const receiver = payTo === '' ? `<bdi>${escapeHtml(session.merchant.name)}</bdi>` : shortened(payTo);
  return facts([
    [
      escapeHtml(words.youPay),
      `<strong id="pay-amount" data-any="${escapeHtml(amount)}">${escapeHtml(amount)}</strong>`,
    ],
    [escapeHtml(words.network), `<span id="pay-network">${escapeHtml(network)}</span>`],
    [escapeHtml(words.fee), `<span class="free">${escapeHtml(words.feeNone)}</span>`],
    [escapeHtml(words.goesTo), `<span id="pay-to">${receiver}</span>`],
  ]);
}

function failureNotice({ language: { words } }: PageView, failureCode: string): string {
  const cause = causeOfCode(failureCode);
  const text = [words[cause], words.nothingPaid, words[NEXT_STEPS[cause]]].join(' ');
  return `<div class="notice failed">${icon('failed')}<div><p><strong>${escapeHtml(words.failed)}</strong></p>
<p>${escapeHtml(text)}</p></div></div>`;
}

/** For those without a wallet in this browser: their phone, their wallet's own browser, the link. */
function otherWays(view: PageView, { token }: PayableEntry): string {
  const { words } = view.language;
  const apps = walletApps(view.ownUrl, new Set(view.entries.map(({ family }) => family)));
  const links = apps.map(
    ({ name, url }) =>
      `<li><a href="${escapeHtml(url)}" rel="noopener noreferrer">${escapeHtml(name)}</a></li>`,
  );
  return `<details class="ways" id="ways"><summary>${escapeHtml(words.noWallet)}</summary>
<p>${say(words, 'noWalletText', { token })}</p>
<div class="apps"><h3>${escapeHtml(words.phoneWallets)}</h3><ul>${links.join('')}</ul></div>
<div class="scan"><h3>${escapeHtml(words.scan)}</h3><p data-script hidden>${escapeHtml(words.scanText)}</p>${qrCode(view.ownUrl, words.qrCode)}</div>
<p data-script hidden><button type="button" class="quiet" data-copy="${escapeHtml(view.link)}">${escapeHtml(words.copyLink)}</button></p>
<h3>${escapeHtml(words.exchange)}</h3><p>${escapeHtml(words.exchangeText)}</p>
</details>`;
}

export function expiredPanel(view: PageView): string {
  const { words } = view.language;
  const { name } = view.session.merchant;
  const { cancel_url: cancelUrl } = view.session;
  return `<div id="notice" role="alert"></div>
<div class="state">${icon('over')}
<h2 id="state" tabindex="-1">${escapeHtml(words.expired)}</h2>
<p>${say(words, 'expiredText', { merchant: name })}</p>
<p class="detail">${whenOver(view)}</p>
${cancelUrl === null ? '' : `<p><a class="button" href="${escapeHtml(cancelUrl)}" rel="noopener noreferrer"><span>${say(words, 'back', { merchant: name })}</span></a></p>`}
</div>`;
}

/** When it ended is known of no session, only when it was to end; one that was ended early has that time ahead of it. */
function whenOver(view: PageView): string {
  const { session, now, language } = view;
  if (session.expires_at > now) {
    return say(language.words, 'endedEarly', { merchant: session.merchant.name });
  }
  return say(language.words, 'wasPayable', { time: GAP }).replace(
    `<bdi>${GAP}</bdi>`,
    time(view, session.expires_at),
  );
}

/** Open, but not now. */
export function pausedPanel(view: PageView, kind: 'busy' | 'unavailable'): string {
  const { words } = view.language;
  const text = say(words, kind === 'busy' ? 'busyText' : 'unavailableText', {
    merchant: view.session.merchant.name,
  });
  return `<div class="state">${icon(kind === 'busy' ? 'working' : 'failed')}
<h2 id="state" tabindex="-1">${escapeHtml(words[kind])}</h2>
<p>${text}</p>
${kind === 'busy' ? triesAgain(view) : ''}
<p><a class="button quiet" href="${escapeHtml(pathOf(view))}">${sayPlainly(words, 'tryAgain')}</a></p>
</div>`;
}

/** True with the script, which asks again, and without scripts, by the document's own refresh. */
function triesAgain({ language: { words } }: PageView): string {
  const text = escapeHtml(words.looksAgain);
  return `<p class="detail" data-script hidden>${text}</p><noscript><p class="detail">${text}</p></noscript>`;
}

function pathOf({ ownUrl }: PageView): string {
  const { pathname, search } = new URL(ownUrl);
  return `${pathname}${search}`;
}
