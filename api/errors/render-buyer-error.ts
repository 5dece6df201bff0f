import type { ErrorRequestHandler, Request, Response } from 'express';
import { isDatabaseAway } from '../../shared/db/constraints.js';
import { sendJson } from '../send-json.js';
import { BUYER_ERRORS, type BuyerError, type BuyerErrorCode } from './buyer-errors.js';

const RETRY_SECONDS = 5;

/** What went wrong on our side, told to a buyer: busy when it will pass, else no more than that it went wrong. */
export function renderBuyerErrors(
  refuse: (req: Request, res: Response, code: BuyerErrorCode, message: string) => void,
): ErrorRequestHandler {
  return (error: unknown, req, res, next) => {
    if (res.headersSent) {
      next(error);
      return;
    }
    const away = isDatabaseAway(error);
    req.log.error({ event: away ? 'database.away' : 'request.failed', request_id: req.id, err: error });
    if (away) res.setHeader('Retry-After', String(RETRY_SECONDS));
    refuse(req, res, away ? 'payment_service_unavailable' : 'internal_error', away ? BUSY : FAILED);
  };
}

export const NO_SESSION = 'There is no checkout session at this link. Check that the link is whole.';
const BUSY = 'Payments cannot be taken right now. Try again in a few seconds.';
const FAILED =
  'Something went wrong on our side. Send GET without a payment header to see where the payment stands.';

export function sendBuyerError(res: Response, code: BuyerErrorCode, message: string): void {
  const error: BuyerError = { code, message };
  res.locals.errorCode = code;
  res.status(BUYER_ERRORS[code]);
  sendJson(res, JSON.stringify({ error }));
}
