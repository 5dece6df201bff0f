import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FoundTransaction } from './find-transaction.js';

/** `network`: as in the names of environment variables, such as EIP155_84532. */
export type TransactionFinder = (
  network: string,
  transaction: string,
) => Promise<FoundTransaction | undefined>;

/** EXPLORER_URL_<NETWORK> of the service has this path. The matched texts need no escaping in HTML. */
const PATH = /^\/sandbox\/tx\/(\w+)\/([0-9A-Za-z]+)$/;
const STYLE = `:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:0 auto;padding:2rem 1rem;overflow-wrap:anywhere}
h1{font-size:1.5rem;line-height:1.2;margin:0 0 1.5rem}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.5rem 1.5rem;margin:0 0 1.5rem}
dt{opacity:.7}dd{margin:0}code{font-size:.875rem}p{opacity:.7}
@media(max-width:30rem){dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.75rem}}`;

/** Serves the page of a transaction on the sandbox's chains; false for any other request. */
export async function serveExplorer(
  find: TransactionFinder,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  const [, network, transaction] = (request.method === 'GET' && PATH.exec(request.url ?? '')) || [];
  if (network === undefined || transaction === undefined) return false;
  const found = await find(network, transaction);
  response.writeHead(found === undefined ? 404 : 200, {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
  });
  response.end(page(transaction, found));
  return true;
}

function page(transaction: string, found: FoundTransaction | undefined): string {
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Transaction in the sandbox</title>
<style>${STYLE}</style>
<h1>${found === undefined ? 'No block holds this transaction' : headline(found)}</h1>
<dl>${found === undefined ? '' : facts(found)}${row('Transaction', `<code>${transaction}</code>`)}</dl>
<p>This page is the sandbox’s own. Its chains run on this machine, and their tokens are worthless.</p>
</html>
`;
}

function headline({ succeeded, transfers: [transfer] }: FoundTransaction): string {
  if (!succeeded) return 'Failed: nothing was transferred';
  return transfer === undefined ? 'No token was transferred' : `${transfer.amount} transferred`;
}

function facts({ network, block, time, transfers }: FoundTransaction): string {
  const moved = transfers.map(({ amount, from, to }) => {
    return `${row('Amount', amount)}${row('From', `<code>${from}</code>`)}${row('To', `<code>${to}</code>`)}`;
  });
  const included = time.toISOString().replace('T', ' ').replace('.000Z', ' UTC');
  return `${moved.join('')}${row('Network', network)}${row('Block', `${block}`)}${row('Time', included)}`;
}

function row(name: string, value: string): string {
  return `<dt>${name}</dt><dd>${value}</dd>`;
}
