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

/** The sentences of the page at /docs/errors. */
export const BUYER_ERROR_MEANINGS: Record<keyof typeof BUYER_ERRORS, string> = {
  invalid_payment_payload: 'The payment header is not base64 of a JSON payment payload of x402.',
  resource_missing: 'No checkout session or refund has this id. Check that the link is complete.',
  method_not_allowed: 'A link answers GET, HEAD, POST and OPTIONS.',
  payment_identifier_reused:
    'Another payment of this link, which failed, came with the same payment identifier. Send a new payment with a new one.',
  payment_processing:
    'Another payment of this link is in progress. Send GET without a payment header for its outcome.',
  session_already_paid: 'The link is paid. Send GET without a payment header for the receipt.',
  signature_already_used:
    'This signature was sent before. Sign a new payment only if `message` asks for one: this one may have paid.',
  session_expired: 'Nobody can pay the link any more. Ask the merchant for a new one.',
  rate_limit: 'Too many requests from one address. Wait as long as Retry-After says.',
  internal_error:
    'A fault of the service. Send GET without a payment header to see where the payment stands.',
  payment_service_unavailable:
    'The service, or the facilitator that settles payments, is away or busy. Wait as long as Retry-After says; the same signature may be sent again.',
  payments_unavailable:
    'There is no network on which the link can be paid now, or its merchant takes no payments.',
};

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
