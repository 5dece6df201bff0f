import type { BuyerErrorCode } from '../errors/buyer-errors.js';
import { renderDocument } from './document.js';
import type { Language } from './language.js';
import { escapeHtml, icon } from './markup.js';
import type { PageAssets } from './page-assets.js';
import type { Words } from './words/words.js';

interface Told {
  title: keyof Words;
  text: keyof Words;
  /** Whether loading the page again may help. */
  passes: boolean;
}

const NOT_FOUND: Told = { title: 'notFound', text: 'notFoundText', passes: false };
const BUSY: Told = { title: 'busy', text: 'busyText', passes: true };
const BROKEN: Told = { title: 'broken', text: 'brokenText', passes: true };
const BAD_REQUEST: Told = { title: 'badRequest', text: 'badRequestText', passes: true };

/** Everything that can stand in the place of a session. */
const TOLD: Partial<Record<BuyerErrorCode, Told>> = {
  resource_missing: NOT_FOUND,
  rate_limit: { title: 'tooMany', text: 'tooManyText', passes: true },
  invalid_payment_payload: BAD_REQUEST,
  method_not_allowed: BAD_REQUEST,
  payment_service_unavailable: BUSY,
};

export function renderErrorPage(code: BuyerErrorCode, language: Language, assets: PageAssets): string {
  const { words } = language;
  const { title, text, passes } = TOLD[code] ?? BROKEN;
  // An empty address is the page's own.
  const again = passes ? `<p><a class="button" href="">${escapeHtml(words.tryAgain)}</a></p>` : '';
  return renderDocument(
    {
      language,
      title: escapeHtml(words[title]),
      styles: [],
      revision: undefined,
      data: undefined,
      main: `<div class="sheet single"><section class="payment"><div class="state">${icon('failed')}
<h1>${escapeHtml(words[title])}</h1>
<p role="alert">${escapeHtml(words[text])}</p>
${again}
</div></section></div>`,
      footer: '',
    },
    assets,
    undefined,
  );
}
