import type { RequestHandler } from 'express';

const METHODS = 'GET, POST, HEAD, OPTIONS';
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

/** Agents live in browsers too: every answer of a link, whatever its status, may be read from any origin. */
export const openToAnyOrigin: RequestHandler = (req, res, next) => {
  res.setHeader('Access-Control-Allow-Origin', '*');
  res.setHeader('Access-Control-Expose-Headers', ANSWER_HEADERS);
  res.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
  if (req.method !== 'OPTIONS') {
    next();
    return;
  }
  res.setHeader('Access-Control-Allow-Methods', METHODS);
  res.setHeader('Access-Control-Allow-Headers', REQUEST_HEADERS);
  res.setHeader('Access-Control-Max-Age', '86400');
  res.status(204).end();
};

export const LINK_METHODS = METHODS;
