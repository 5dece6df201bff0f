import { networkName } from '../../shared/chains/networks/networks.js';
import { LATE_SECONDS } from './late.js';
import { code, escapeHtml, icon } from './markup.js';
import type { PageState } from './page-state.js';
import type { PageView } from './page-view.js';
import type { Words } from './words/words.js';

type Processing = Extract<PageState, { kind: 'processing' }>;

/** Shows a payment in progress: stages and elapsed time. */
export function processingPanel(view: PageView, state: Processing): string {
  const { words } = view.language;
  const isLate = view.now - state.since >= LATE_SECONDS;
  const again = escapeHtml(words.looksAgain);
  return `<div id="notice" role="alert"></div>
<div class="state" data-since="${state.since}"${state.payer === null ? '' : ` data-payer="${escapeHtml(state.payer)}"`}>${icon('working')}
<h2 id="state" tabindex="-1">${escapeHtml(words.processing)}</h2>
<p data-mine hidden><strong>${escapeHtml(words.processingMine)}</strong></p>
<p data-other><strong>${escapeHtml(words.processingOther)}</strong></p>
<p>${escapeHtml(words.processingText)}</p>
${stages(words, state.transactionUrl !== null)}
<p class="detail" id="elapsed" role="timer" data-script hidden></p>
<p class="detail">${escapeHtml(networkName(state.network))}</p>
${state.transactionUrl === null ? '' : `<p><a class="button quiet" href="${escapeHtml(state.transactionUrl)}" target="_blank" rel="noopener noreferrer">${escapeHtml(words.seeTransaction)}</a></p>`}
<div class="late" id="late"${isLate ? '' : ' hidden'}><p>${escapeHtml(words.late)}</p><p>${code(view.session.id)}</p></div>
<p class="detail" data-script hidden>${again}</p><noscript><p class="detail">${again}</p></noscript>
</div>`;
}

/** Stages: "sent" when the payment was claimed, "seen" when its transaction is known, "confirmed" last. */
function stages(words: Words, isSeen: boolean): string {
  const row = (text: string, { isReached, isCurrent }: { isReached: boolean; isCurrent: boolean }): string =>
    `<li${isReached ? ' class="reached"' : ''}${isCurrent ? ' aria-current="step"' : ''}>${escapeHtml(text)}</li>`;
  const sent = row(words.stageSent, { isReached: true, isCurrent: !isSeen });
  const seen = row(words.stageSeen, { isReached: isSeen, isCurrent: isSeen });
  const confirmed = row(words.stageConfirmed, { isReached: false, isCurrent: false });
  return `<ol class="stages" aria-label="${escapeHtml(words.stages)}">${sent}${seen}${confirmed}</ol>`;
}
