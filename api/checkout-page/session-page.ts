import { brandStyles } from './brand.js';
import { renderDocument } from './document.js';
import { footer } from './footer.js';
import { head } from './head.js';
import { inline } from './inlined.js';
import { escapeHtml, plainPhrase } from './markup.js';
import { expiredPanel, openPanel, pausedPanel } from './open-panel.js';
import type { PageAssets } from './page-assets.js';
import type { PageData } from './page-data.js';
import type { InlinedParts } from './page-headers.js';
import { type PageState, revisionOf } from './page-state.js';
import type { PageView } from './page-view.js';
import { processingPanel } from './processing-panel.js';
import { receiptPanel } from './receipt-panel.js';
import { summary } from './summary.js';
import { uncertainNotice } from './uncertain-notice.js';
import { SCRIPT_WORDS, type ScriptWords } from './words/script-words.js';
import type { Words } from './words/words.js';

/** Document titles, seen in the browser tab while the buyer is in their wallet. */
const TITLES = {
  open: 'title',
  busy: 'titlePaused',
  unavailable: 'titlePaused',
  processing: 'titleProcessing',
  complete: 'titlePaid',
  expired: 'titleExpired',
} as const satisfies Record<PageState['kind'], keyof Words>;

/** The scripts and styles are in the document, so that a first visit takes one round trip. `color`: the merchant's. */
export function partsOf({ script, style }: PageAssets, color: string | null): InlinedParts {
  const brand = color === null ? undefined : brandStyles(color);
  return {
    scripts: script === undefined ? [] : [script],
    styles: [
      ...(style === undefined ? [] : [style]),
      ...(brand === undefined ? [] : [inline('style', brand)]),
    ],
  };
}

/** `parts` is undefined when the page is open in a browser already, which replaces the content only. */
export function renderSessionPage(
  view: PageView,
  parts: InlinedParts | undefined,
  walletScript: string | undefined,
): string {
  const { session, state, language } = view;
  const { name } = session.merchant;
  const title = plainPhrase(language.words, TITLES[state.kind], { merchant: name });
  // This script adds wallets, so it comes before the page's own script, which asks for them.
  const wallets = walletScript === undefined ? [] : [`<script src="${escapeHtml(walletScript)}"></script>`];
  const panels = `<div class="sheet">
${summary(view)}
<section class="payment" aria-labelledby="state" data-state="${state.kind}">
${uncertainNotice(view)}
${panel(view)}
</section>
</div>`;
  return renderDocument({
    language,
    title,
    head: head(view, title),
    styles: parts?.styles.map(({ element }) => element) ?? [],
    scripts: parts === undefined ? [] : [...wallets, ...parts.scripts.map(({ element }) => element)],
    revision: revisionOf(state),
    refreshes: state.kind === 'processing' || state.kind === 'busy',
    data: JSON.stringify(pageData(view)),
    // The definitions are rendered after the panels: a panel registers each drawing that it uses.
    main: `${panels}${view.marks.definitions()}`,
    footer: footer(view),
  });
}

function panel(view: PageView): string {
  const { state, session } = view;
  switch (state.kind) {
    case 'open':
      return openPanel(view, state.failureCode);
    case 'busy':
    case 'unavailable':
      return pausedPanel(view, state.kind);
    case 'processing':
      return processingPanel(view, state);
    case 'complete':
      if (session.payment === null) throw new Error(`${session.id} is complete without a payment`);
      return receiptPanel(view, session.payment);
    case 'expired':
      return expiredPanel(view);
  }
}

function pageData({ session, entries, nonces, link, created, now, language }: PageView): PageData {
  return {
    sessionId: session.id,
    livemode: session.livemode,
    path: new URL(link).pathname,
    language: language.tag,
    now,
    created,
    expiresAt: session.expires_at,
    entries,
    nonces,
    successUrl: session.payment === null ? null : session.success_url,
    words: Object.fromEntries(SCRIPT_WORDS.map((word) => [word, language.words[word]])) as ScriptWords,
  };
}
