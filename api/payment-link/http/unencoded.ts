import type { RequestHandler } from 'express';
import { whyUnreadable } from '../../http/unreadable-request.js';
import { ENCODED, hasBody, isEncoded } from '../../middleware/read-body.js';
import type { Refuse } from './refuse.js';

/** Refuses a body that is compressed, or has broken off, before reading it. */
export function unencoded(refuse: Refuse): RequestHandler {
  return (req, res, next) => {
    const unreadable = whyUnreadable(req);
    if (unreadable !== undefined) refuse(req, res, 'invalid_payment_payload', unreadable.message);
    else if (hasBody(req) && isEncoded(req)) refuse(req, res, 'invalid_payment_payload', ENCODED);
    else next();
  };
}
