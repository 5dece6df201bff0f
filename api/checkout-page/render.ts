import type { Response } from 'express';
import { transactionUrl } from '../../shared/chains/networks.js';
import { lineItemTotalCents } from '../../shared/domain/checkout-session.js';
import { sessionUrl } from '../../shared/presenters/checkout-session.js';
import { findLinkedSession, type LinkedSession } from '../../shared/services/payment-links.js';
import type { Deps } from '../deps.js';
import { BUYER_ERRORS, type BuyerErrorCode } from '../errors/buyer-refusal.js';
import type { LinkAnswer } from '../payment-link/answer.js';
import { writeHead } from '../payment-link/respond.js';
import { escapeHtml } from './escape-html.js';

/**
 * What a person sees: a document that reads without any script. A page load that pays nothing is answered 200 while
 * the session can be looked at; one with a payment header has an agent's status and headers.
 */
export async function sendPage(
  { db, config }: Deps,
  res: Response,
  answer: LinkAnswer,
  sessionId: string,
  pays: boolean,
): Promise<void> {
  // A payment has moved the session on: the page shows what it is now.
  const session = await findLinkedSession(db, sessionId);
  if (session === undefined) throw new Error(`${sessionId} is gone`);
  if (pays || answer.kind === 'paid' || isOver(answer)) writeHead(res, answer);
  sendHtml(res, documentOf(session.account.name, bodyOf(session, answer, config.baseUrl)));
}

export function sendErrorPage(res: Response, code: BuyerErrorCode, message: string): void {
  res.locals.errorCode = code;
  res.status(BUYER_ERRORS[code]);
  sendHtml(
    res,
    documentOf('Checkout', `<h1>This link does not work</h1><p role="alert">${escapeHtml(message)}</p>`),
  );
}

function isOver(answer: LinkAnswer): boolean {
  return answer.kind === 'error' && answer.error.code === 'session_expired';
}

function sendHtml(res: Response, html: string): void {
  res.setHeader('Content-Type', 'text/html; charset=utf-8');
  res.end(res.req.method === 'HEAD' ? undefined : html);
}

function documentOf(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)}</title>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`;
}

function bodyOf(session: LinkedSession, answer: LinkAnswer, baseUrl: string): string {
  const items = (session.lineItems ?? []).map(
    (item) =>
      `<li>${escapeHtml(item.name)} × ${item.quantity}: ${dollars(lineItemTotalCents(item))}${item.description === null ? '' : `<br>${escapeHtml(item.description)}`}</li>`,
  );
  return `<h1>${dollars(session.amountTotalCents)}</h1>
<p>to ${escapeHtml(session.account.name)}${session.livemode ? '' : ' (test mode)'}</p>
<ul>
${items.join('\n')}
</ul>
<p role="status">${statusOf(session, answer)}</p>
<p>Agents pay this same address over x402: ${escapeHtml(sessionUrl(session.id, baseUrl))}</p>`;
}

function statusOf(session: LinkedSession, answer: LinkAnswer): string {
  switch (session.status) {
    case 'complete': {
      const url =
        session.payment?.transaction == null
          ? null
          : transactionUrl(session.payment.network, session.payment.transaction);
      return `Paid.${url === null ? '' : ` <a href="${escapeHtml(url)}">See the transaction</a>.`}`;
    }
    case 'processing':
      return 'A payment is being confirmed by the network.';
    case 'expired':
      return 'This session has expired. Ask the merchant for a new link.';
    case 'open':
      return escapeHtml(answer.kind === 'error' ? answer.error.message : 'Waiting for payment.');
  }
}

/** From the digits: the largest amounts have more of them than a fraction could hold. */
function dollars(cents: number): string {
  const amount = `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`;
  return USD.format(amount as `${number}`);
}

const USD = new Intl.NumberFormat('en', { style: 'currency', currency: 'USD' });
