import type { ErrorRequestHandler, Request, Response } from 'express';
import { logFailure } from '../http/log-failure.js';
import { sendJson } from '../http/send-json.js';

/** Error codes for buyers and their HTTP status. */
export const BUYER_ERRORS = {
  invalid_payment_payload: 400,
  resource_missing: 404,
  method_not_allowed: 405,
  payment_identifier_reused: 409,
  payment_processing: 409,
  session_already_paid: 409,
  signature_already_used: 409,
  session_expired: 410,
  rate_limit: 429,
  internal_error: 500,
  payment_service_unavailable: 503,
  payments_unavailable: 503,
} as const satisfies Record<string, number>;

export type BuyerErrorCode = keyof typeof BUYER_ERRORS;

export interface BuyerError {
  code: BuyerErrorCode;
  message: string;
}

const RETRY_SECONDS = 5;

/** Answers an unexpected error: 503 when the database is unavailable or busy, else 500. */
export function renderBuyerErrors(
  refuse: (req: Request, res: Response, code: BuyerErrorCode, message: string) => void,
): ErrorRequestHandler {
  return (error: unknown, req, res, next) => {
    if (res.headersSent) {
      next(error);
      return;
    }
    const unavailable = logFailure(error, req, res.locals.session) !== 'internal';
    if (unavailable) res.setHeader('Retry-After', String(RETRY_SECONDS));
    refuse(
      req,
      res,
      unavailable ? 'payment_service_unavailable' : 'internal_error',
      unavailable ? BUSY : FAILED,
    );
  };
}

export const NO_SESSION = 'There is no checkout session at this link. Check that the link is complete.';
const BUSY = 'Payments cannot be taken right now. Try again in a few seconds.';
const FAILED =
  'Something went wrong on our side. Send GET without a payment header to see where the payment stands.';

export function sendBuyerError(res: Response, code: BuyerErrorCode, message: string): void {
  const error: BuyerError = { code, message };
  res.locals.errorCode = code;
  res.status(BUYER_ERRORS[code]);
  sendJson(res, JSON.stringify({ error }));
}
