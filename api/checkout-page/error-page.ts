import type { BuyerErrorCode } from '../errors/buyer-errors.js';
import { renderDocument } from './document.js';
import type { Language } from './language.js';
import { escapeHtml, icon } from './markup.js';
import type { PageAssets } from './page-assets.js';
import type { Words } from './words/words.js';

interface ErrorTexts {
  title: keyof Words;
  text: keyof Words;
  reloadMayHelp: boolean;
}

const NOT_FOUND: ErrorTexts = { title: 'notFound', text: 'notFoundText', reloadMayHelp: false };
/** The state of the session is unknown: it may have been paid long ago. */
const UNAVAILABLE: ErrorTexts = { title: 'busy', text: 'awayText', reloadMayHelp: true };
const BROKEN: ErrorTexts = { title: 'broken', text: 'brokenText', reloadMayHelp: true };
const BAD_REQUEST: ErrorTexts = { title: 'badRequest', text: 'badRequestText', reloadMayHelp: true };

/** The texts of error pages by error code. */
const WORDS_OF: Partial<Record<BuyerErrorCode, ErrorTexts>> = {
  resource_missing: NOT_FOUND,
  rate_limit: { title: 'tooMany', text: 'tooManyText', reloadMayHelp: true },
  invalid_payment_payload: BAD_REQUEST,
  method_not_allowed: BAD_REQUEST,
  payment_service_unavailable: UNAVAILABLE,
};

/** Temporary errors are retried by a `Refresh` header, which needs no script. */
export function isTemporary(code: BuyerErrorCode): boolean {
  return WORDS_OF[code] === UNAVAILABLE;
}

export function renderErrorPage(code: BuyerErrorCode, language: Language, { styleUrl }: PageAssets): string {
  const { words } = language;
  const { title, text, reloadMayHelp } = WORDS_OF[code] ?? BROKEN;
  // An empty href is the page's own URL.
  const again = reloadMayHelp ? `<p><a class="button" href="">${escapeHtml(words.tryAgain)}</a></p>` : '';
  return renderDocument({
    language,
    title: escapeHtml(words[title]),
    head: '<link rel="icon" href="data:,">',
    // The style sheet is linked, not inlined: a flood gets many of these documents, each a kilobyte without it.
    styles: styleUrl === undefined ? [] : [`<link rel="stylesheet" href="${styleUrl}">`],
    scripts: [],
    revision: undefined,
    refreshes: false,
    data: undefined,
    main: `<div class="sheet single"><section class="payment"><div class="state">${icon('failed')}
<h1>${escapeHtml(words[title])}</h1>
<p role="alert">${escapeHtml(words[text])}</p>
${isTemporary(code) ? `<p class="detail">${escapeHtml(words.looksAgain)}</p>` : ''}
${again}
</div></section></div>`,
    footer: '',
  });
}
