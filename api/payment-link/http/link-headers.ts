import type { Request, RequestHandler, Response } from 'express';
import { isHeadless, whyUnreadable } from '../../http/unreadable-request.js';

export const LINK_METHODS = 'GET, POST, HEAD, OPTIONS';
/** The stock client sends Access-Control-Expose-Headers as a request header. */
const REQUEST_HEADERS = [
  'PAYMENT-SIGNATURE',
  'X-PAYMENT',
  'PAYMENT-REQUIRED',
  'PAYMENT-RESPONSE',
  'X-PAYMENT-RESPONSE',
  'Retry-After',
  'Content-Type',
  'Accept',
  'Access-Control-Expose-Headers',
].join(', ');
const ANSWER_HEADERS =
  'PAYMENT-REQUIRED, PAYMENT-RESPONSE, X-PAYMENT-RESPONSE, Retry-After, Link, Request-Id';

/** Headers of every response of a link, whatever its status. */
export function linkHeaders(relations: LinkRelations): RequestHandler {
  return (req, res, next) => {
    setLinkHeaders(res, relations);
    if (req.method !== 'OPTIONS') {
      next();
      return;
    }
    res.setHeader('Access-Control-Allow-Methods', LINK_METHODS);
    res.setHeader('Access-Control-Allow-Headers', REQUEST_HEADERS);
    res.setHeader('Access-Control-Max-Age', '86400');
    res.status(204).end();
  };
}

/**
 * Headers of a request that the connection refuses before it reaches a route. A path that was not read may be a link's, and the
 * refusal says nothing that another origin could not learn by asking itself.
 */
export function linkHeadersOfRefused(relations: LinkRelations): (req: Request, res: Response) => void {
  return (req, res) => {
    if (whyUnreadable(req) === undefined) return;
    if (isHeadless(req) || /^\/c(?:\/|$)/.test(req.path)) setLinkHeaders(res, relations);
  };
}

/**
 * Any origin may read the response, since agents run in browsers too; caches may not store it, since the status may change at
 * any moment.
 */
function setLinkHeaders(res: Response, { withoutSession }: LinkRelations): void {
  res.setHeader('Cache-Control', 'no-store');
  res.setHeader('Vary', 'Accept');
  res.setHeader('Link', withoutSession);
  res.setHeader('Access-Control-Allow-Origin', '*');
  res.setHeader('Access-Control-Expose-Headers', ANSWER_HEADERS);
  res.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
}

/**
 * The `Link` header. It refers agents to the documentation of this service and, for a session, to its status, which
 * is not rate limited.
 */
export interface LinkRelations {
  withoutSession: string;
  ofSession(id: string): string;
}

export function linkRelations(baseUrl: string): LinkRelations {
  const path = new URL(baseUrl).pathname.replace(/\/$/, '');
  const withoutSession = `<${path}/openapi.json>; rel="service-desc", <${path}/llms.txt>; rel="service-doc"`;
  return {
    withoutSession,
    ofSession: (id) => `${withoutSession}, <${path}/c/${id}/status>; rel="monitor"`,
  };
}
