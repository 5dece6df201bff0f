import type { Response } from 'express';
import { now, nowMs } from '../../shared/clock.js';
import { isIdShaped } from '../../shared/ids.js';
import { findLinkedSession } from '../../shared/services/payments/read-link.js';
import { sendCompressed } from '../checkout-page/compressed.js';
import { renderErrorPage } from '../checkout-page/error-page.js';
import { chooseLanguage, type Language } from '../checkout-page/language.js';
import { setPageHeaders } from '../checkout-page/page-headers.js';
import { pageState } from '../checkout-page/page-state.js';
import { buildPageView } from '../checkout-page/page-view.js';
import { renderSessionPage } from '../checkout-page/session-page.js';
import type { Deps } from '../deps.js';
import { BUYER_ERRORS, type BuyerErrorCode } from '../errors/buyer-refusal.js';
import type { LinkAnswer } from '../payment-link/answer.js';
import { serveLink } from '../payment-link/serve-link.js';
import { writeHead } from './respond.js';

/** `exchange`: an open page asks for what it is now. It is always 200, since browsers log anything else as an error. */
export type PageVisit = 'load' | 'payment' | 'exchange';

/**
 * What a person sees: a document that reads without any script. A page load that pays nothing is answered 200 while
 * the session can be looked at; one with a payment header has an agent's status and headers.
 */
export async function sendPage(
  deps: Deps,
  res: Response,
  answer: LinkAnswer,
  sessionId: string,
  visit: PageVisit,
): Promise<void> {
  const { config, pageAssets } = deps;
  // A payment has moved the session on: the page shows what it is now.
  const session = await findLinkedSession(deps.db, sessionId);
  if (session === undefined) throw new Error(`${sessionId} is gone`);
  const isOver = answer.kind === 'error' && answer.error.code === 'session_expired';
  if (visit === 'payment' || (visit === 'load' && (answer.kind === 'paid' || isOver))) writeHead(res, answer);
  const language = languageOf(res);
  const state = pageState(session, answer, now());
  const view = buildPageView(session, state, { baseUrl: config.baseUrl, language, now: now() });
  send(deps, res, language, renderSessionPage(view, pageAssets, config.pageScriptUrl));
}

/** `/c/{id}/page`. */
export async function sendCurrentPage(deps: Deps, res: Response, id: string): Promise<void> {
  const session = isIdShaped(id) ? await findLinkedSession(deps.db, id) : undefined;
  if (session === undefined) {
    sendErrorPage(deps, res, 'resource_missing');
    return;
  }
  const visit = { header: undefined, channel: 'page', arrivedAtMs: nowMs() } as const;
  await sendPage(deps, res, await serveLink(deps, session, visit), id, 'exchange');
}

export function sendErrorPage(deps: Deps, res: Response, code: BuyerErrorCode): void {
  res.locals.errorCode = code;
  res.status(BUYER_ERRORS[code]);
  const language = languageOf(res);
  send(deps, res, language, renderErrorPage(code, language, deps.pageAssets));
}

function languageOf({ req }: Response): Language {
  return chooseLanguage(req.get('Accept-Language'));
}

function send({ config }: Deps, res: Response, language: Language, html: string): void {
  res.locals.language = language.tag;
  setPageHeaders(res, config.pageScriptUrl);
  res.setHeader('Content-Type', 'text/html; charset=utf-8');
  sendCompressed(res, html);
}
