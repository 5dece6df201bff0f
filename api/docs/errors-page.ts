import type { Response } from 'express';
import { listFailureCodes } from '../../shared/x402/failure-codes.js';
import { sharedDocument } from '../checkout-page/compressed.js';
import { inline } from '../checkout-page/inlined.js';
import { escapeHtml } from '../checkout-page/markup.js';
import { setPageHeaders } from '../checkout-page/page-headers.js';
import { BUYER_ERROR_MEANINGS, BUYER_ERRORS, type BuyerErrorCode } from '../errors/buyer-errors.js';
import { ERROR_CATALOG, INTERNAL_ERROR } from '../errors/catalog.js';
import { documentStart } from './document-start.js';

/** The page that the `doc_url` of an error names: what each code means. It needs no script. */

const STYLE = inline(
  'style',
  `body{max-width:48rem;margin:0 auto;padding:1rem 1.25rem 6rem;font:16px/1.5 system-ui,sans-serif;color:CanvasText;background:Canvas}
h2{margin-top:2.5rem}
dt{margin-top:1.25rem;overflow-wrap:anywhere}
dt code{font-weight:700}
dd{margin:0}
dt:target,dt:target+dd{background:Mark;color:MarkText}`,
);

const send = sharedDocument(renderErrorsPage);

export async function sendErrorsPage(res: Response): Promise<void> {
  setPageHeaders(res, undefined, { scripts: [], styles: [STYLE] });
  res.setHeader('Content-Type', 'text/html; charset=utf-8');
  res.setHeader('Cache-Control', 'no-cache');
  await send(res);
}

function renderErrorsPage(): string {
  const refusals = Object.entries({ ...ERROR_CATALOG, [INTERNAL_ERROR.code]: INTERNAL_ERROR })
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([code, { status, type, meaning }]) => entry(code, code, `${status} ${type}`, meaning));
  const atLinks = (Object.keys(BUYER_ERRORS) as BuyerErrorCode[]).map((code) =>
    entry(`link-${code}`, code, `${BUYER_ERRORS[code]}`, BUYER_ERROR_MEANINGS[code]),
  );
  const failures = listFailureCodes().map(({ code, message }) => entry(`payment-${code}`, code, '', message));
  return `${documentStart('error codes')}
${STYLE.element}
</head>
<body>
<main>
<h1>Error codes</h1>
<p>An error of <code>/v1</code> has a <code>message</code> that says what to change, and the parameter at fault in
<code>param</code>. Programs compare the <code>code</code>. The whole API: <a href="/docs">/docs</a>.</p>
<h2>Errors of <code>/v1</code> and <code>/mcp</code></h2>
<dl>
${refusals.join('\n')}
</dl>
<h2>Errors of a payment link</h2>
<dl>
${atLinks.join('\n')}
</dl>
<h2>Codes of a payment that failed: <code>code</code> of a 402, <code>failure_code</code> of a payment</h2>
<dl>
${failures.join('\n')}
</dl>
<p>A facilitator may use codes that are not listed. They are passed on unchanged. Whatever the code, do not pay again where
<code>error</code> says that the payment may have been taken; otherwise no money moved.</p>
</main>
</body>
</html>
`;
}

/** Backticks in `meaning` mark code. */
function entry(id: string, code: string, notes: string, meaning: string): string {
  const sentences = escapeHtml(meaning).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
  return `<dt id="${id}"><code>${code}</code> ${notes}</dt><dd>${sentences}</dd>`;
}
