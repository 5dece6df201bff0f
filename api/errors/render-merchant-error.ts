import type { ErrorRequestHandler } from 'express';
import { sendJson } from '../send-json.js';
import { merchantError } from './merchant-error.js';

/** The Error object of every answer to a merchant that is not 200. */
export function renderMerchantErrors(): ErrorRequestHandler {
  return (error: unknown, req, res, next) => {
    if (res.headersSent) {
      next(error);
      return;
    }
    const { status, headers, code, text } = merchantError(error, req);
    res.set(headers);
    res.locals.errorCode = code;
    res.status(status);
    sendJson(res, text);
  };
}
