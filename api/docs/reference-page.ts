import { documentStart } from './document-start.js';

/** The API reference: a library renders `/openapi.json`. Its policy allows nothing inline. */
export function renderReferencePage(assets: readonly string[]): string {
  const tags = assets.map((name) =>
    name.endsWith('.css')
      ? `<link rel="stylesheet" href="/docs/assets/${name}">`
      : `<script src="/docs/assets/${name}" defer></script>`,
  );
  return `${documentStart('API reference')}
<link rel="service-desc" type="application/json" href="/openapi.json">
<link rel="alternate" type="text/plain" href="/llms.txt" title="For agents">
${tags.join('\n')}
</head>
<body>
<main>
<p class="sources">This page shows <a href="/openapi.json">/openapi.json</a>. For AI agents: <a href="/llms.txt">/llms.txt</a>.</p>
<p id="failure" class="sources" role="alert"${tags.length === 0 ? '' : ' hidden'}>The reference cannot be shown here. The document above holds all of it.</p>
<noscript><p class="sources">The reference needs JavaScript; the document above does not.</p></noscript>
<div id="reference"></div>
</main>
</body>
</html>
`;
}
