import type { PageAssets } from '../checkout-page/page-assets.js';

/**
 * The same document for every merchant: it holds no data, and the script asks /v1 for the data. In a sandbox it says so, and
 * then the script takes a key from the address.
 */
export function dashboardDocument({ dashboard }: PageAssets, isSandbox: boolean): string {
  const { script, style } = dashboard;
  return `<!doctype html>
<html lang="en"${isSandbox ? ' data-sandbox="true"' : ''}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<meta name="color-scheme" content="light dark">
<meta name="format-detection" content="telephone=no">
<title>Dashboard</title>
<link rel="icon" href="data:,">
${style === undefined ? '' : `<link rel="stylesheet" href="${style}">`}
${script === undefined ? '' : `<script src="${script}" defer></script>`}
</head>
<body>
<noscript><p>The dashboard needs JavaScript. The API at /v1 shows and does the same.</p></noscript>
<div id="dashboard"></div>
</body>
</html>
`;
}
