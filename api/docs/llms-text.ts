import { OFFERED_TOKENS, type OfferedToken, TOKEN_SYMBOLS } from '../../shared/chains/networks/networks.js';
import { isListedByStockClients } from '../payment-link/stock-clients.js';

const SYMBOLS = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(TOKEN_SYMBOLS);

/** `/llms.txt`: instructions for agents that know nothing but this host, in Markdown. */
export function llmsText(baseUrl: string): string {
  const sections = [
    whatThisIs(baseUrl),
    howToPay(),
    whatStockClientsRefuse(),
    howToCreate(baseUrl),
    howToGiveBack(baseUrl),
    howErrorsLook(),
    whereMoreIs(baseUrl),
  ];
  return `${sections.join('\n\n')}\n`;
}

function whatThisIs(baseUrl: string): string {
  return `# Stablecoin Checkout

> ${baseUrl} is a hosted checkout for stablecoin payments. A merchant, person or agent, creates a checkout session and gets
> one link, ${baseUrl}/c/{id}. People pay it in a browser; agents pay the same link over x402 version 2 (HTTP 402).
> The money, in ${SYMBOLS}, goes straight to the merchant's wallet, and a facilitator pays the network's gas.`;
}

function howToPay(): string {
  return `## Pay a link

You need a wallet, and no key. GET the link with any Accept but text/html:

1. It answers 402. The JSON body, and the same in base64 in the header PAYMENT-REQUIRED, lists in \`accepts\` what can be
   paid: network, token (\`asset\`), \`amount\` in the token's smallest unit, wallet (\`payTo\`). Pick one entry;
   \`?network=eip155:137\` or \`?token=USDT\` lists those that did not fit.
2. Sign it, and send the same request with the header PAYMENT-SIGNATURE. x402's own clients do both:

\`\`\`js
${PAY}
\`\`\`

On Solana: \`client.register('solana:*', new ExactSvmScheme(signer))\`, of @x402/svm. The second answer:

- 200: paid. The body is the receipt; the header PAYMENT-RESPONSE holds the transaction.
- 202: the network has not confirmed yet. Do not sign again. While it answers 202, wait Retry-After seconds and GET the
  link without a payment header: clients do not do that by themselves.
- 402: not paid, and no money moved. \`code\` and \`error\` say why. Fix that, then sign again. Only after
  \`outcome_unknown\`, or an \`error\` that says so, money may have moved: ask the merchant first, with the id in \`error\`.
- 409: another payment is in progress, or has paid this session (\`session_already_paid\`), or this signature was used
  before (\`signature_already_used\`). GET the link to see its state.
- 400: the payment header cannot be read. 404: no such link. 410: expired; ask for a new link, unless \`message\` says not to.
- 429, 503: wait for Retry-After, then send the same signature again.
- No answer: send the same header again and sign nothing new; it pays once. With x402's extension \`payment-identifier\` (in
  the 402's \`extensions\`) the same payment gets its first answer again; without it, 409 with PAYMENT-RESPONSE.`;
}

function whatStockClientsRefuse(): string {
  return `## What stock clients refuse until they are told

x402's JavaScript clients (since 2.23) pay at most $1 at a time, and only in tokens of their own list. They throw "All
payment requirements were rejected by spendControls…" before anything is signed. Their owner decides:

- a higher limit: \`client.setSpendControls({ maxAmountPerPayment: '$50' })\`
- another token: \`client.setSpendControls({ allowedAssets: [{ network, asset, maxAmountPerPayment: amount }] })\`, with the
  values of the entry (here the limit is in the token's smallest unit); \`allowedAssets: true\` takes every token

The tokens, of which a link offers those that its merchant has a wallet for:

- Paid by default, live: ${listTokens({ testnet: false, known: true })}.
- Only when named, live: ${listTokens({ testnet: false, known: false })}.
- Paid by default, test: ${listTokens({ testnet: true, known: true })}.
- Only when named, test: ${listTokens({ testnet: true, known: false })}.`;
}

function howToCreate(baseUrl: string): string {
  return `## Create a link

With a checkout key, svc_ck_live_… (main networks) or svc_ck_test_… (test networks). Stripe's SDKs work when
pointed at this host. Amounts are integers in US cents; bodies are JSON or form-encoded:

\`\`\`sh
${create(baseUrl)}
\`\`\`

The answer's \`url\` is the link. It can be paid once, until \`expires_at\` (30 minutes to 24 hours; default 24).
\`GET ${baseUrl}/v1/checkout/sessions/{id}\` tells \`status\` (open, processing, complete, expired) and \`payment\`.
Send an Idempotency-Key with each POST: a retry then gets the first answer again.

Without a person: \`POST ${baseUrl}/v1/keys\` exchanges a JWT for a checkout key. The JWT is signed (EdDSA) with a facilitator
key (svc_sk_…) that the operator of this host has registered for the account: header \`kid\` and claim \`sub\` are the key's
id, \`iss\` is svc-merchant, \`exp\` is \`iat\` + 120. Body: \`{"livemode":false,"name":"My agent"}\`.

To receive events, \`POST ${baseUrl}/v1/webhook_endpoints\` with \`url\`; the answer holds its \`secret\`, once. Events
are checkout.session.completed and checkout.session.expired. Verify each: Service-Signature with Stripe's
\`webhooks.constructEvent\`, or webhook-signature with any Standard Webhooks library. Without a public address, ask
\`GET ${baseUrl}/v1/events\`: the same events, newest first.`;
}

function howToGiveBack(baseUrl: string): string {
  return `## Refund a payment

\`POST ${baseUrl}/v1/refunds\` with \`payment\` (pay_…), and \`amount\` for a part of it, answers with a link in \`url\` that
pays this amount to the buyer's wallet. Pay it from yours; \`status\` is then succeeded. Events: refund.created,
refund.updated.`;
}

function howErrorsLook(): string {
  return `## Errors

- /v1: \`{"error":{"type","code","message","param","doc_url","request_id"}}\`. \`message\` says what to change in \`param\`.
  400: change the request. 401: the key. 404: the id or its mode (live, test). 429: wait for Retry-After. 5xx: send it again
  with the same Idempotency-Key.
- links: \`{"error":{"code","message"}}\`, or on a 402 \`code\` and \`error\` beside \`accepts\`, such as \`insufficient_funds\`.`;
}

function whereMoreIs(baseUrl: string): string {
  return `## More

- [API document](${baseUrl}/openapi.json): OpenAPI 3.1, every parameter, limit and object
- [API reference](${baseUrl}/docs): the same for people
- [MCP](${baseUrl}/mcp): tools for agents that speak the Model Context Protocol
- [Public keys](${baseUrl}/.well-known/jwks.json): what this host's signed receipts are verified with`;
}

export function isKnownToStockClients({ network, address }: OfferedToken): boolean {
  return isListedByStockClients({ network: network.caip2, asset: address });
}

/** `USDC on Base (eip155:8453), …` */
function listTokens(which: { testnet: boolean; known: boolean }): string {
  return OFFERED_TOKENS.filter(
    (token) => token.network.testnet === which.testnet && isKnownToStockClients(token) === which.known,
  )
    .map(({ symbol, network }) => `${symbol} on ${network.name} (${network.caip2})`)
    .join(', ');
}

/** Same as examples/agent-fetch.mjs. */
const PAY = `import { argv, env } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { privateKeyToAccount } from 'viem/accounts';

const link = argv[2];
const buyer = privateKeyToAccount(env.BUYER_KEY);
const client = new x402Client().register('eip155:*', new ExactEvmScheme(buyer));
// The client's default limit is $1 a payment.
client.setSpendControls({ maxAmountPerPayment: '$20' });
let response = await wrapFetchWithPayment(fetch, client)(link);

// Not confirmed yet: a GET without a payment asks again, and pays nothing.
while (response.status === 202) {
  await sleep(Number(response.headers.get('Retry-After')) * 1000);
  response = await fetch(link);
}
if (response.status !== 200) throw new Error(\`Not paid (HTTP \${response.status}): \${await response.text()}\`);

const { session, refund } = await response.json();
const { transaction, network } = decodePaymentResponseHeader(response.headers.get('PAYMENT-RESPONSE'));
const dollars = ((session?.amount_total ?? refund.amount) / 100).toFixed(2);
console.log(\`Paid $\${dollars} to \${session?.merchant.name ?? refund.pay_to}: \${transaction} on \${network}\`);`;

/** Same as examples/create-session.sh. */
function create(baseUrl: string): string {
  return `curl "${baseUrl}/v1/checkout/sessions" -u "$CHECKOUT_KEY:" \\
  -d 'line_items[0][price_data][product_data][name]=Coffee' \\
  -d 'line_items[0][price_data][unit_amount]=450'`;
}
