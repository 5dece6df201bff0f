import type { Response } from 'express';
import { transactionUrl } from '../../../shared/chains/networks/networks.js';
import { LONG_ANSWER_BYTES } from '../../../shared/limits/bounds.js';
import { listSurplus } from '../../../shared/payments/find.js';
import { now } from '../../../shared/process/clock.js';
import { findPagePayable, type LinkedPayable } from '../../../shared/settlement/read-link.js';
import { createdAt } from '../../../shared/values/ids.js';
import { unixSeconds } from '../../../shared/wire/timestamp.js';
import type { UncertainPayment } from '../../../shared/x402/failure-codes.js';
import { sendCompressed } from '../../checkout-page/compressed.js';
import { isTemporary, renderErrorPage } from '../../checkout-page/error-page.js';
import type { Language } from '../../checkout-page/language.js';
import { type InlinedParts, REFRESH_SECONDS, setPageHeaders } from '../../checkout-page/page-headers.js';
import type { PageState } from '../../checkout-page/page-state.js';
import { buildPageView } from '../../checkout-page/page-view.js';
import { partsOf, renderSessionPage } from '../../checkout-page/session-page.js';
import type { Deps } from '../../deps/deps.js';
import { BUYER_ERRORS, type BuyerErrorCode } from '../../errors/buyer-errors.js';
import { releaseWhenSent } from '../../http/release-when-sent.js';
import { addressKey } from '../../limits/address-key.js';
import type { LinkAnswer } from '../link-answer.js';
import { viewLink } from '../view-link.js';
import { askedByBuyer, languageOf } from './buyer-language.js';
import { writeStatusAndHeaders } from './respond.js';
import { withinShare } from './within-share.js';

/** A page load without a payment: 200 while the session is open or processing, else the status that agents get. */
export async function sendPageLoad(
  deps: Deps,
  res: Response,
  session: LinkedPayable,
  answer: LinkAnswer,
): Promise<void> {
  const isExpired = answer.kind === 'error' && answer.error.code === 'session_expired';
  if (answer.kind === 'paid' || isExpired) writeStatusAndHeaders(deps, res, answer);
  await sendPage(deps, res, session, answer);
}

/**
 * A page load with a payment header: the status and headers that agents get, with the page of the resulting state, which
 * shows every network whatever the query asks for.
 */
export async function sendPageAfterPayment(
  deps: Deps,
  res: Response,
  sessionId: string,
  { head, shown }: { head: LinkAnswer; shown: LinkAnswer },
): Promise<void> {
  // The payment has changed the session since it was read.
  const session = await findPagePayable(deps.db, sessionId);
  if (session === undefined) throw new Error(`${sessionId} is gone`);
  // The page's headers are set first: the link's own headers fill the room that these leave.
  setPageHeaders(res, deps.config.pageScriptUrl, inlinedIn(deps, session));
  writeStatusAndHeaders(deps, res, head);
  await sendPage(deps, res, session, shown, { hasHead: true });
}

/**
 * `/c/{id}/page`: new content for an open page, without the script and the style that the page has already. Always 200, since
 * browsers log other statuses as errors.
 */
export async function sendCurrentPage(deps: Deps, res: Response, id: string): Promise<void> {
  const session = await findPagePayable(deps.db, id);
  if (session === undefined) sendErrorPage(deps, res, 'resource_missing');
  else {
    const own = withinShare(deps, session);
    await sendPage(own, res, session, await viewLink(own, session), { isOpen: true });
  }
}

export function sendErrorPage(deps: Deps, res: Response, code: BuyerErrorCode): void {
  res.locals.errorCode = code;
  res.status(BUYER_ERRORS[code]);
  if (isTemporary(code)) res.setHeader('Refresh', String(REFRESH_SECONDS));
  const language = languageOf(res);
  send(deps, res, language, renderErrorPage(code, language, deps.pageAssets));
}

/** A document that works without scripts. `hasHead`: status and headers tell a payment's outcome, and stay. */
async function sendPage(
  deps: Deps,
  res: Response,
  session: LinkedPayable,
  answer: LinkAnswer,
  { isOpen = false, hasHead = false } = {},
): Promise<void> {
  const { config, longAnswers, references } = deps;
  const language = languageOf(res);
  const view = buildPageView(session, pageState(session, answer), {
    baseUrl: config.baseUrl,
    language,
    isLanguageAsked: askedByBuyer(res) !== undefined,
    surplus: session.status === 'complete' ? await listSurplus(deps.db, session.id) : [],
    now: now(),
    newNonce: references.nonceOf,
  });
  const inlined = isOpen ? undefined : inlinedIn(deps, session);
  const html = renderSessionPage(view, inlined, config.pageScriptUrl);
  if (html.length - lengthOf(inlined) > LONG_ANSWER_BYTES) {
    const release = longAnswers.take(2 * html.length, addressKey(res.req));
    if (release === undefined) {
      if (hasHead) return send(deps, res, language, renderErrorPage('rate_limit', language, deps.pageAssets));
      res.setHeader('Retry-After', '1');
      sendErrorPage(deps, res, 'rate_limit');
      return;
    }
    releaseWhenSent(res, release);
  }
  send(deps, res, language, html, inlined);
}

function inlinedIn({ pageAssets }: Deps, session: LinkedPayable): InlinedParts {
  return partsOf(pageAssets, session.account.brandColor);
}

/** The length of parts that every page of a merchant has: they make no page a long one. */
function lengthOf(inlined: InlinedParts | undefined): number {
  const parts = [...(inlined?.scripts ?? []), ...(inlined?.styles ?? [])];
  return parts.reduce((length, { element }) => length + element.length, 0);
}

/** `answer`: the response for agents. For an open session it says whether it can be paid now. */
export function pageState(session: LinkedPayable, answer: LinkAnswer): PageState {
  switch (session.status) {
    case 'complete':
      return { kind: 'complete' };
    case 'processing':
      return processing(session);
    case 'expired':
      return { kind: 'expired', uncertain: uncertainOf(answer) };
    case 'open':
      return session.expiresAt <= now() ? { kind: 'expired', uncertain: uncertainOf(answer) } : open(answer);
  }
}

function open(answer: LinkAnswer): PageState {
  if (answer.kind === 'payment_required') {
    const { accepts, code } = answer.required;
    return { kind: 'open', accepts, failureCode: code, uncertain: answer.uncertain };
  }
  const isLasting = answer.kind === 'error' && answer.error.code === 'payments_unavailable';
  return { kind: isLasting ? 'unavailable' : 'busy', uncertain: uncertainOf(answer) };
}

function uncertainOf(answer: LinkAnswer): UncertainPayment | undefined {
  return answer.kind === 'error' || answer.kind === 'payment_required' ? answer.uncertain : undefined;
}

function processing({ payment }: LinkedPayable): PageState {
  const transaction = payment?.transaction ?? payment?.reportedTransaction ?? null;
  const network = payment?.network ?? '';
  return {
    kind: 'processing',
    network,
    transactionUrl: transaction === null ? null : transactionUrl(network, transaction),
    since: unixSeconds(payment === null ? now() : createdAt(payment.id)),
    payer: payment?.payer ?? null,
  };
}

function send(
  { config }: Deps,
  res: Response,
  language: Language,
  html: string,
  inlined?: InlinedParts,
): void {
  res.locals.language = language.tag;
  setPageHeaders(res, config.pageScriptUrl, inlined);
  res.setHeader('Content-Type', 'text/html; charset=utf-8');
  sendCompressed(res, html);
}
