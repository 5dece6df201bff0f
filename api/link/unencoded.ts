import type { RequestHandler } from 'express';
import { ENCODED, hasBody, isEncoded } from '../middleware/read-body.js';
import type { Refuse } from './refuse.js';

/** Refuses a compressed body before reading it. */
export function unencoded(refuse: Refuse): RequestHandler {
  return (req, res, next) => {
    if (hasBody(req) && isEncoded(req)) refuse(req, res, 'invalid_payment_payload', ENCODED);
    else next();
  };
}
