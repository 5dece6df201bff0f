import { LANGUAGES, type Language } from './language.js';
import { escapeHtml, link as linkTo, phrase } from './markup.js';
import type { PageView } from './page-view.js';

/** Support address, choice of language, and instructions for agents. */
export function footer({ session, link, language, state }: PageView): string {
  const { words } = language;
  const { support_email: email } = session.merchant;
  const support =
    email === null
      ? ''
      : `<p>${phrase(words, 'support', { email: '\u0000' }).replace('<bdi>\u0000</bdi>', linkTo(`mailto:${encodeURIComponent(email).replaceAll('%40', '@')}`, `<bdi>${escapeHtml(email)}</bdi>`))}</p>`;
  const agents =
    state.kind === 'complete' || state.kind === 'expired'
      ? ''
      : `<details class="agents"><summary>${escapeHtml(words.agents)}</summary>
<p>${escapeHtml(words.agentsText)}</p><pre dir="ltr" tabindex="0"><code>curl ${escapeHtml(link)}</code></pre><p>${escapeHtml(words.agentsSign)}</p></details>`;
  return `<footer>${support}${languages(language)}${agents}</footer>`;
}

/** The language is kept in the URL only: no cookie is set. */
function languages({ tag: current, name, words }: Language): string {
  const others = LANGUAGES.filter(({ tag }) => tag !== current).map(
    ({ tag, name: other, direction }) =>
      `<li><a href="?lang=${tag}" lang="${tag}" hreflang="${tag}" dir="${direction}">${other}</a></li>`,
  );
  return `<details class="languages"><summary>${escapeHtml(words.language)}: <span>${name}</span></summary><ul>${others.join('')}</ul></details>`;
}
