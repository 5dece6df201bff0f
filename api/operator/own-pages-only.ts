import type { Request, RequestHandler } from 'express';
import { parseUrl } from '../../shared/values/parse-url.js';

/** A scheme, a host of 253 characters and a port. */
const MAX_ORIGIN_LENGTH = 270;
const READ_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

export function isRead({ method }: Pick<Request, 'method'>): boolean {
  return READ_METHODS.has(method);
}

/**
 * Protects against cross-site request forgery. Browsers attach Basic credentials to requests that other sites
 * trigger, and no cookie rule prevents it. A change is accepted from this origin, or from a program, which sends
 * neither header, and never with a form's content type, which any site can send without a preflight.
 */
export const fromOwnPagesOnly: RequestHandler = (req, res, next) => {
  if (isRead(req) || (isSameOrigin(req) && hasNoFormBody(req))) {
    next();
    return;
  }
  res.status(403).type('text/plain').send('Changes are accepted only from these pages, and as JSON.\n');
};

function isSameOrigin({ headers }: Request): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const { origin, host } = headers;
  if (origin === undefined) return true;
  return origin.length <= MAX_ORIGIN_LENGTH && parseUrl(origin)?.host === host;
}

function hasNoFormBody({ headers }: Request): boolean {
  const hasBody = Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined;
  const [type = ''] = (headers['content-type'] ?? '').split(';', 1);
  const isJson = type.trim().toLowerCase() === 'application/json';
  return isJson || (!hasBody && type === '');
}
