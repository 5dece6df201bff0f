import type { Language } from './language.js';
import { escapeHtml } from './markup.js';
import type { PageAssets } from './page-assets.js';
import { REFRESH_SECONDS } from './page-headers.js';

interface PageDocument {
  language: Language;
  /** Escaped text. */
  title: string;
  /** Elements of the head that describe the page to a chat or a browser tab. */
  head: string;
  /** URLs of additional style sheets. */
  styles: readonly string[];
  /** Polled while the page is open; undefined when the state is final. */
  revision: string | undefined;
  /** Without scripts, the document reloads itself. */
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

/**
 * A document without inline scripts and styles. #live stays when the rest is replaced: screen readers announce
 * changes only in a region that already existed.
 */
export function renderDocument(
  page: PageDocument,
  assets: PageAssets,
  walletScript: string | undefined,
): string {
  const { language, revision, data } = page;
  const styles = [assets.style, ...page.styles].filter((url) => url !== undefined);
  // Order matters: wallets must be loaded before the page asks for them.
  const scripts = data === undefined ? [] : [walletScript, assets.script].filter((url) => url !== undefined);
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
${styles.map((url) => `<link rel="stylesheet" href="${escapeHtml(url)}">`).join('\n')}
${scripts.map((url) => `<script src="${escapeHtml(url)}" defer></script>`).join('\n')}
</head>
<body>
<p id="live" class="visually-hidden" role="status"></p>
<p id="connection" class="connection" role="status" hidden></p>
<main id="page"${revision === undefined ? '' : ` data-revision="${revision}"`}${data === undefined ? '' : ` data-page='${escapeData(data)}'`}>
${page.main}
</main>
${page.footer}
</body>
</html>
`;
}
