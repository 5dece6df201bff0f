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
 * What every answer of a link says, whatever its status: agents live in browsers too, so it may be read from any origin;
 * it is as of now; and there is more to read.
 */
export function linkHeaders({ always }: LinkRelations): RequestHandler {
  return (req, res, next) => {
    res.setHeader('Cache-Control', 'no-store');
    res.setHeader('Vary', 'Accept');
    res.setHeader('Link', always);
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
 * The `Link` header of a link's answers: where an agent finds what describes this service, and where it may look, without
 * being counted in the link's limit, how a session stands.
 */
export interface LinkRelations {
  /** Where there is no session. */
  always: string;
  of(sessionId: string): string;
}

export function linkRelations(baseUrl: string): LinkRelations {
  const path = new URL(baseUrl).pathname.replace(/\/$/, '');
  const always = `<${path}/openapi.json>; rel="service-desc", <${path}/llms.txt>; rel="service-doc"`;
  return { always, of: (sessionId) => `${always}, <${path}/c/${sessionId}/status>; rel="monitor"` };
}
