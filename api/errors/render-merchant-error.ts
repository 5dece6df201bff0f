import type { ErrorRequestHandler, Response } from 'express';
import { Refusal } from '../../shared/domain/errors.js';
import { sendJson } from '../send-json.js';
import { ERROR_CATALOG, type ErrorType } from './catalog.js';

/** The Error object of every /v1 answer that is not 200. What is not a refusal is told to the log only. */
export function renderMerchantErrors(): ErrorRequestHandler {
  return (error: unknown, req, res, next) => {
    if (res.headersSent) {
      next(error);
      return;
    }
    const refusal = asRefusal(error);
    if (refusal !== undefined) {
      sendRefusal(res, refusal);
      return;
    }
    req.log.error({ event: 'request.failed', request_id: req.id, err: error });
    sendError(res, 500, {
      type: 'api_error',
      code: 'internal_error',
      message: 'Something went wrong on our side. Try again; with an Idempotency-Key nothing happens twice.',
    });
  };
}

/** Express decodes path parameters, and throws this when their percent-encoding is broken. */
function asRefusal(error: unknown): Refusal | undefined {
  if (error instanceof Refusal) return error;
  if (!(error instanceof URIError)) return undefined;
  return new Refusal(
    'resource_missing',
    'The id in the path is not percent-encoded correctly. Check that it is whole.',
    {
      param: 'id',
    },
  );
}

function sendRefusal(res: Response, { code, message, details }: Refusal): void {
  const { status, type } = ERROR_CATALOG[code];
  if (status === 401) res.set('WWW-Authenticate', 'Bearer realm="stablecoin-checkout"');
  if (details.allow !== undefined) res.set('Allow', details.allow);
  if (details.retryAfterSeconds !== undefined) res.set('Retry-After', String(details.retryAfterSeconds));
  sendError(res, status, {
    type,
    code,
    message,
    ...(details.param !== undefined && { param: details.param }),
  });
}

function sendError(
  res: Response,
  status: number,
  error: { type: ErrorType; code: string; message: string; param?: string },
): void {
  res.locals.errorCode = error.code;
  res.status(status);
  sendJson(res, JSON.stringify({ error: { ...error, request_id: res.req.id } }));
}
