import type { Language } from './language.js';
import { escapeHtml } from './markup.js';
import { REFRESH_SECONDS } from './page-headers.js';

interface PageDocument {
  language: Language;
  /** Escaped text. */
  title: string;
  /** Elements of the head that describe the page to a chat or a browser tab. */
  head: string;
  /** Elements. */
  styles: readonly string[];
  /** Elements at the end of the document: a browser shows everything above them before it runs them. */
  scripts: readonly string[];
  /** The state's revision, which the open page compares with the revisions that it polls; undefined when the state is final. */
  revision: string | undefined;
  /** Whether the document reloads itself where scripts do not run. */
  refreshes: boolean;
  /** JSON for the script. */
  data: string | undefined;
  main: string;
  footer: string;
}

/** JSON between single quotes, which is shorter than with each of its double quotes escaped. */
function escapeData(json: string): string {
  return json.replaceAll(/[&<>']/g, escapeHtml);
}

/** #live stays when the rest is replaced: screen readers announce changes only in a region that already existed. */
export function renderDocument(page: PageDocument): string {
  const { language, revision, data, styles, scripts } = page;
  return `<!doctype html>
<html lang="${language.tag}" dir="${language.direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<meta name="color-scheme" content="light dark">
<meta name="format-detection" content="telephone=no">
${page.refreshes ? `<noscript><meta http-equiv="refresh" content="${REFRESH_SECONDS}"></noscript>\n` : ''}<title>${page.title}</title>
${page.head}
${styles.join('\n')}
</head>
<body>
<p id="live" class="visually-hidden" role="status"></p>
<p id="connection" class="connection" role="status" hidden></p>
<main id="page"${revision === undefined ? '' : ` data-revision="${revision}"`}${data === undefined ? '' : ` data-page='${escapeData(data)}'`}>
${page.main}
</main>
${page.footer}
${scripts.join('\n')}
</body>
</html>
`;
}
