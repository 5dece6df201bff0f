import type { BuyerErrorCode } from '../errors/buyer-errors.js';
import { renderDocument } from './document.js';
import type { Language } from './language.js';
import { escapeHtml, icon } from './markup.js';
import type { PageAssets } from './page-assets.js';
import type { Words } from './words/words.js';

interface ErrorWords {
  title: keyof Words;
  text: keyof Words;
  reloadMayHelp: boolean;
}

const NOT_FOUND: ErrorWords = { title: 'notFound', text: 'notFoundText', reloadMayHelp: false };
/** Of what is behind it nothing is known: it may have been paid long ago. */
const AWAY: ErrorWords = { title: 'busy', text: 'awayText', reloadMayHelp: true };
const BROKEN: ErrorWords = { title: 'broken', text: 'brokenText', reloadMayHelp: true };
const BAD_REQUEST: ErrorWords = { title: 'badRequest', text: 'badRequestText', reloadMayHelp: true };

/** Everything that can stand in the place of a session. */
const WORDS_OF: Partial<Record<BuyerErrorCode, ErrorWords>> = {
  resource_missing: NOT_FOUND,
  rate_limit: { title: 'tooMany', text: 'tooManyText', reloadMayHelp: true },
  invalid_payment_payload: BAD_REQUEST,
  method_not_allowed: BAD_REQUEST,
  payment_service_unavailable: AWAY,
};

/** What passes by itself, and is asked again by a `Refresh`, which needs no script. */
export function isAway(code: BuyerErrorCode): boolean {
  return WORDS_OF[code] === AWAY;
}

export function renderErrorPage(code: BuyerErrorCode, language: Language, assets: PageAssets): string {
  const { words } = language;
  const { title, text, reloadMayHelp } = WORDS_OF[code] ?? BROKEN;
  // An empty address is the page's own.
  const again = reloadMayHelp ? `<p><a class="button" href="">${escapeHtml(words.tryAgain)}</a></p>` : '';
  return renderDocument(
    {
      language,
      title: escapeHtml(words[title]),
      styles: [],
      revision: undefined,
      refreshes: false,
      data: undefined,
      main: `<div class="sheet single"><section class="payment"><div class="state">${icon('failed')}
<h1>${escapeHtml(words[title])}</h1>
<p role="alert">${escapeHtml(words[text])}</p>
${isAway(code) ? `<p class="detail">${escapeHtml(words.looksAgain)}</p>` : ''}
${again}
</div></section></div>`,
      footer: '',
    },
    assets,
    undefined,
  );
}
