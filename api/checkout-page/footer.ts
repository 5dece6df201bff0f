import { LANGUAGES, type Language } from './language.js';
import { escapeHtml, link as linkTo, phrase } from './markup.js';
import type { PageView } from './page-view.js';

/** Empty when the merchant has no address for questions. */
export function supportLine({ session, language: { words } }: PageView): string {
  const { support_email: email } = session.merchant;
  if (email === null) return '';
  const address = linkTo(
    `mailto:${encodeURIComponent(email).replaceAll('%40', '@')}`,
    `<bdi>${escapeHtml(email)}</bdi>`,
  );
  return `<p>${phrase(words, 'support', { email: '\u0000' }).replace('<bdi>\u0000</bdi>', address)}</p>`;
}

/** Support address, choice of language, and instructions for agents. */
export function footer(view: PageView): string {
  const { link, language, state } = view;
  const { words } = language;
  const agents =
    state.kind === 'complete' || state.kind === 'expired'
      ? ''
      : `<details class="agents"><summary>${escapeHtml(words.agents)}</summary>
<p>${escapeHtml(words.agentsText)}</p><pre dir="ltr" tabindex="0"><code>curl ${escapeHtml(link)}</code></pre><p>${escapeHtml(words.agentsSign)}</p></details>`;
  return `<footer>${supportLine(view)}${languages(language)}${agents}</footer>`;
}

/** The language is kept in the URL only: no cookie is set. */
function languages(current: Language): string {
  const { name, words } = current;
  const others = LANGUAGES.filter(({ tag }) => tag !== current.tag).map(
    ({ tag, name: other, direction }) =>
      `<li><a href="?lang=${tag}" lang="${tag}"${direction === current.direction ? '' : ` dir="${direction}"`}>${other}</a></li>`,
  );
  return `<details class="languages"><summary>${escapeHtml(words.language)}: <span>${name}</span></summary><ul>${others.join('')}</ul></details>`;
}
