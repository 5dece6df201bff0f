import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express';
import type { Deps } from '../../deps/deps.js';
import { type BuyerErrorCode, sendBuyerError } from '../../errors/buyer-errors.js';
import { wantsPage } from '../../input/media-type.js';
import { sendErrorPage } from './page.js';

type HeaderReader = Pick<Request, 'get'>;
export type Refuse = (req: HeaderReader, res: Response, code: BuyerErrorCode, message: string) => void;

/** Answers with a page or with JSON, depending on the Accept header. */
export function refuser(deps: Deps): Refuse {
  return (req, res, code, message) => {
    if (wantsPage(req)) sendErrorPage(deps, res, code);
    else sendBuyerError(res, code, message);
  };
}

export function allowOnly(methods: string, refuse: Refuse): RequestHandler {
  return (req, res) => {
    res.setHeader('Allow', methods);
    refuse(req, res, 'method_not_allowed', `This address answers ${methods}. Use one of them.`);
  };
}

export function notFound(refuse: Refuse): RequestHandler {
  return (req, res) => {
    refuse(
      req,
      res,
      'resource_missing',
      'There is nothing at this address. Check that the link is complete.',
    );
  };
}

/** Handles broken percent-encoding in an id, and errors of the body parser. */
export function refuseBroken(refuse: Refuse): ErrorRequestHandler {
  return (error: unknown, req, res, next) => {
    if (error instanceof URIError) {
      const message = 'This link is not percent-encoded correctly. Check that the link is complete.';
      refuse(req, res, 'resource_missing', message);
    } else if (isBodyError(error)) {
      refuse(req, res, 'invalid_payment_payload', 'The body is not JSON, or too long. Send a JSON object.');
    } else {
      next(error);
    }
  };
}

function isBodyError(error: unknown): boolean {
  return error instanceof Error && 'type' in error && 'statusCode' in error && Number(error.statusCode) < 500;
}
