import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express';
import type { Deps } from '../deps/deps.js';
import { type BuyerErrorCode, sendBuyerError } from '../errors/buyer-errors.js';
import { sendErrorPage } from './page.js';

type Asked = Pick<Request, 'get'>;
export type Refuse = (req: Asked, res: Response, code: BuyerErrorCode, message: string) => void;

/** Tells people by a page, and agents by JSON. */
export function refuser(deps: Deps): Refuse {
  return (req, res, code, message) => {
    if (wantsPage(req)) sendErrorPage(deps, res, code);
    else sendBuyerError(res, code, message);
  };
}

/** A browser's page load names text/html; agents send anything else. */
export function wantsPage(req: Asked): boolean {
  return /\btext\/html\b/i.test(req.get('Accept') ?? '');
}

export function onlyBy(methods: string, refuse: Refuse): RequestHandler {
  return (req, res) => {
    res.setHeader('Allow', methods);
    refuse(req, res, 'method_not_allowed', `This address answers ${methods}. Use one of them.`);
  };
}

export function nothingThere(refuse: Refuse): RequestHandler {
  return (req, res) => {
    refuse(req, res, 'resource_missing', 'There is nothing at this address. Check that the link is whole.');
  };
}

/** What Express throws when an id's percent-encoding is broken, and its body parser for what is not JSON. */
export function refuseBroken(refuse: Refuse): ErrorRequestHandler {
  return (error: unknown, req, res, next) => {
    if (error instanceof URIError) {
      const message = 'This link is not percent-encoded correctly. Check that the link is whole.';
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
