import { brandStylesUrl } from './brand.js';
import { renderDocument } from './document.js';
import { escapeHtml, link as linkTo, say, sayPlainly } from './markup.js';
import { expiredPanel, openPanel, pausedPanel, processingPanel } from './open-panel.js';
import type { PageAssets } from './page-assets.js';
import type { PageData } from './page-data.js';
import { revisionOf } from './page-state.js';
import type { PageView } from './page-view.js';
import { receiptPanel } from './receipt-panel.js';
import { summary } from './summary.js';
import { SCRIPT_WORDS, type ScriptWords } from './words/words.js';

export function renderSessionPage(
  view: PageView,
  assets: PageAssets,
  walletScript: string | undefined,
): string {
  const { session, state, language } = view;
  const { name, brand_color: color } = session.merchant;
  const brand = color === null ? undefined : brandStylesUrl(color);
  return renderDocument(
    {
      language,
      title: sayPlainly(language.words, state.kind === 'complete' ? 'titlePaid' : 'title', {
        merchant: name,
      }),
      styles: brand === undefined ? [] : [brand],
      revision: revisionOf(state),
      data: JSON.stringify(pageData(view)),
      main: `<div class="sheet">
${summary(view)}
<section class="payment" aria-labelledby="state" data-state="${state.kind}">
${panel(view)}
</section>
</div>`,
      footer: footer(view),
    },
    assets,
    walletScript,
  );
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
      return processingPanel(view, state.network, state.transactionUrl);
    case 'complete':
      if (session.payment === null) throw new Error(`${session.id} is complete without a payment`);
      return receiptPanel(view, session.payment);
    case 'expired':
      return expiredPanel(view);
  }
}

function footer({ session, link, language, state }: PageView): string {
  const { words } = language;
  const { support_email: email } = session.merchant;
  const support =
    email === null
      ? ''
      : `<p>${say(words, 'support', { email: '\u0000' }).replace('<bdi>\u0000</bdi>', linkTo(`mailto:${encodeURIComponent(email).replaceAll('%40', '@')}`, `<bdi>${escapeHtml(email)}</bdi>`))}</p>`;
  const agents =
    state.kind === 'complete' || state.kind === 'expired'
      ? ''
      : `<details class="agents"><summary>${escapeHtml(words.agents)}</summary>
<p>${escapeHtml(words.agentsText)}</p><pre dir="ltr" tabindex="0"><code>curl ${escapeHtml(link)}</code></pre><p>${escapeHtml(words.agentsSign)}</p></details>`;
  return `<footer>${support}${agents}</footer>`;
}

function pageData({ session, entries, link, created, now, language }: PageView): PageData {
  return {
    sessionId: session.id,
    path: new URL(link).pathname,
    language: language.tag,
    now,
    created,
    expiresAt: session.expires_at,
    entries,
    successUrl: session.payment === null ? null : session.success_url,
    words: Object.fromEntries(SCRIPT_WORDS.map((word) => [word, language.words[word]])) as ScriptWords,
  };
}
