import type { RequestHandler } from 'express';

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

/**
 * Headers of every response of a link, whatever its status. Any origin may read it, since agents run in browsers
 * too; caches may not store it, since the status may change at any moment.
 */
export function linkHeaders({ withoutSession }: LinkRelations): RequestHandler {
  return (req, res, next) => {
    res.setHeader('Cache-Control', 'no-store');
    res.setHeader('Vary', 'Accept');
    res.setHeader('Link', withoutSession);
    res.setHeader('Access-Control-Allow-Origin', '*');
    res.setHeader('Access-Control-Expose-Headers', ANSWER_HEADERS);
    res.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
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
