import { escapeHtml, facts, icon, phrase, plainPhrase, shortened, time } from './markup.js';
import type { PayableEntry } from './page-data.js';
import { isInLastQuarter, type PageView } from './page-view.js';
import { qrCode } from './qr-code.js';
import { uncertainOf } from './uncertain-notice.js';
import { walletApps } from './wallet-apps.js';
import { causeOfCode, NEXT_STEPS } from './words/causes.js';

/** Placeholder for markup that is inserted after the text around it is escaped. */
const GAP = '\u0000';

/**
 * The payment panel of an open session. It is readable without the script, which fills #wallets and updates the
 * facts for the chosen entry. After a payment that may have been taken, the script shows it once the buyer has read that.
 */
export function openPanel(view: PageView, failureCode: string | undefined): string {
  const { words } = view.language;
  const [first] = view.entries;
  if (first === undefined) throw new Error('an open page without an entry');
  const isUncertain = uncertainOf(view) !== undefined;
  const notice = failureCode === undefined || isUncertain ? '' : failureNotice(view, failureCode);
  return `<div id="notice" role="alert">${notice}</div>
<div id="step" hidden></div>
<div id="choose"${isUncertain ? ' hidden' : ''}>
<h2 id="state" tabindex="-1">${escapeHtml(words.payHeading)}</h2>
${choice(view)}
${entryFacts(view)}
${isInLastQuarter(view) ? `<p class="countdown" id="countdown" role="timer">${phrase(words, 'payBefore', { time: view.formats.time(view.session.expires_at) })}</p>` : '<p class="countdown" id="countdown" role="timer" hidden></p>'}
<div id="wallets"></div>
<noscript><p class="notice">${escapeHtml(words.noScript)}</p></noscript>
${otherWays(view, first)}
</div>`;
}

/** All rows are collapsed until the script knows which ones the buyer can pay. */
function choice({ entries, language: { words } }: PageView): string {
  const rows = entries.map(
    ({ networkName, token }, index) =>
      `<label><input type="radio" name="entry" value="${index}"><span>${escapeHtml(`${networkName} · ${token}`)}<span class="held"></span></span></label>`,
  );
  return `<fieldset class="field" id="entries" data-script hidden><legend>${escapeHtml(words.choice)}</legend>
<div id="entries-shown"></div>
<details id="other-entries"><summary>${escapeHtml(words.chooseEntry)}</summary><div id="entries-folded">${rows.join('')}</div></details>
</fieldset>`;
}

/** Shows only what all entries have in common: the wallet decides which entry is paid. */
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

/**
 * Alternatives for buyers without a wallet in this browser: a phone, the browser of a wallet app, the link itself.
 */
function otherWays(view: PageView, { token }: PayableEntry): string {
  const { words } = view.language;
  const apps = walletApps(view.ownUrl, new Set(view.entries.map(({ family }) => family)));
  const links = apps.map(
    ({ name, url }) =>
      `<li><a href="${escapeHtml(url)}" rel="noopener noreferrer">${escapeHtml(name)}</a></li>`,
  );
  return `<details class="ways" id="ways"><summary>${escapeHtml(words.noWallet)}</summary>
<p>${phrase(words, 'noWalletText', { token })}</p>
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
${
  uncertainOf(view) === undefined
    ? `<p>${phrase(words, 'expiredText', { merchant: name })}</p>
`
    : ''
}<p class="detail">${expiryText(view)}</p>
${cancelUrl === null ? '' : `<p><a class="button" href="${escapeHtml(cancelUrl)}" rel="noopener noreferrer"><span>${phrase(words, 'back', { merchant: name })}</span></a></p>`}
</div>`;
}

/**
 * The time of expiry is not stored, only `expires_at`, which lies in the future when the session was expired early.
 */
function expiryText(view: PageView): string {
  const { session, now, language } = view;
  if (session.expires_at > now) {
    return phrase(language.words, 'endedEarly', { merchant: session.merchant.name });
  }
  return phrase(language.words, 'wasPayable', { time: GAP }).replace(
    `<bdi>${GAP}</bdi>`,
    time(view, session.expires_at),
  );
}

/** For an open session that cannot be paid at the moment. */
export function pausedPanel(view: PageView, kind: 'busy' | 'unavailable'): string {
  const { words } = view.language;
  const text = phrase(words, kind === 'busy' ? 'busyText' : 'unavailableText', {
    merchant: view.session.merchant.name,
  });
  return `<div class="state">${icon(kind === 'busy' ? 'working' : 'failed')}
<h2 id="state" tabindex="-1">${escapeHtml(words[kind])}</h2>
<p>${text}</p>
${kind === 'busy' ? triesAgain(view) : ''}
<p><a class="button quiet" href="${escapeHtml(pathOf(view))}">${plainPhrase(words, 'tryAgain')}</a></p>
</div>`;
}

/** The script polls; without scripts the document reloads itself. */
function triesAgain({ language: { words } }: PageView): string {
  const text = escapeHtml(words.looksAgain);
  return `<p class="detail" data-script hidden>${text}</p><noscript><p class="detail">${text}</p></noscript>`;
}

function pathOf({ ownUrl }: PageView): string {
  const { pathname, search } = new URL(ownUrl);
  return `${pathname}${search}`;
}
