import type { Request, RequestHandler } from 'express';
import { parseUrl } from '../../shared/values/parse-url.js';

const LOOKING = new Set(['GET', 'HEAD', 'OPTIONS']);

export function isLooking({ method }: Pick<Request, 'method'>): boolean {
  return LOOKING.has(method);
}

/**
 * A browser sends the operators' password along with whatever any page makes it send, and no cookie rule stops that. So
 * a change is taken only from these pages themselves, or from a program, which sends neither header; and never in a
 * form's encoding, which every page may send.
 */
export const fromOwnPagesOnly: RequestHandler = (req, res, next) => {
  if (isLooking(req) || (isFromHere(req) && hasNoFormBody(req))) {
    next();
    return;
  }
  res.status(403).type('text/plain').send('Changes are taken from these pages alone, and as JSON.\n');
};

function isFromHere({ headers }: Request): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const { origin, host } = headers;
  return origin === undefined || parseUrl(origin)?.host === host;
}

function hasNoFormBody({ headers }: Request): boolean {
  const hasBody = Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined;
  const [type = ''] = (headers['content-type'] ?? '').split(';', 1);
  const isJson = type.trim().toLowerCase() === 'application/json';
  return isJson || (!hasBody && type === '');
}
