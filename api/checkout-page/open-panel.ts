import { escapeHtml, icon, phrase, plainPhrase, shortened, time } from './markup.js';
import { otherWays, phoneApps } from './other-ways.js';
import { isInLastQuarter, type PageView } from './page-view.js';
import { uncertainOf } from './uncertain-notice.js';
import { causeOfCode } from './words/cause-of-code.js';
import { NEXT_STEPS } from './words/causes.js';

const LOCK =
  '<svg class="lock" viewBox="0 0 16 16" aria-hidden="true"><path d="M4.5 7V5a3.5 3.5 0 0 1 7 0v2M3.5 7h9v6.5h-9z"/></svg>';

/** Placeholder for markup that is inserted after the text around it is escaped. */
const GAP = '\u0000';

/**
 * The payment panel of an open session. It is readable without the script, which fills #wallets and names the receiver
 * of the chosen entry. After a payment that may have been taken, the script shows it once the buyer has read that.
 */
export function openPanel(view: PageView, failureCode: string | undefined): string {
  const { words } = view.language;
  if (view.entries.length === 0) throw new Error('an open page without an entry');
  const isUncertain = uncertainOf(view) !== undefined;
  const notice = failureCode === undefined || isUncertain ? '' : failureNotice(view, failureCode);
  return `<div id="notice" role="alert">${notice}</div>
<div id="step" hidden></div>
<div id="choose"${isUncertain ? ' hidden' : ''}>
<h2 id="state" tabindex="-1">${escapeHtml(words.payHeading)}</h2>
<div id="wallets" data-amount="${escapeHtml(amountOfAll(view))}"></div>
<noscript><p class="notice">${escapeHtml(words.noScript)}</p></noscript>
${phoneApps(view)}
${trust(view)}
<p class="countdown" id="countdown" role="timer"${isInLastQuarter(view) ? `>${phrase(words, 'payBefore', { time: view.formats.time(view.session.expires_at) })}` : ' hidden>'}</p>
${otherWays(view)}
</div>`;
}

/** The line on the network's fee and the receiver. The script names the receiver of the chosen entry. */
function trust({ language: { words }, entries, session }: PageView): string {
  const [first, ...others] = entries.map(({ accepted }) => accepted.payTo);
  const isOne = first !== undefined && others.every((payTo) => payTo === first);
  const receiver = isOne ? shortened(first) : `<bdi>${escapeHtml(session.merchant.name)}</bdi>`;
  return `<p class="trust">${LOCK}<span>${escapeHtml(words.networkFee)}</span> <span>${escapeHtml(words.goesTo)} <span id="pay-to">${receiver}</span></span></p>`;
}

/** The amount that every entry has in common: in its token when there is one entry, else in dollars. */
function amountOfAll({ entries, session, formats }: PageView): string {
  const [first, ...others] = entries.map(({ amount }) => amount);
  return first !== undefined && others.every((amount) => amount === first)
    ? first
    : formats.dollars(session.amount_total);
}

function failureNotice({ language: { words } }: PageView, failureCode: string): string {
  const cause = causeOfCode(failureCode);
  const text = [words[cause], words.nothingPaid, words[NEXT_STEPS[cause]]].join(' ');
  // The script reads `data-refused`, and then names another wallet first.
  const refused = cause === 'failedRefused' ? ' data-refused' : '';
  return `<div class="notice failed"${refused}>${icon('failed')}<div><p><strong>${escapeHtml(words.failed)}</strong></p>
<p>${escapeHtml(text)}</p></div></div>`;
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
    ? `<p id="new-link">${phrase(words, 'expiredText', { merchant: name })}</p>
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

/** The panel of an open session that cannot be paid at the moment. */
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
