import type { ErrorRequestHandler, Request } from 'express';
import { Busy } from '../../shared/db/busy.js';
import { Refusal } from '../../shared/errors/refusal.js';
import { logFailure } from '../http/log-failure.js';
import { sendJson } from '../http/send-json.js';
import { ERROR_CATALOG, type ErrorType, INTERNAL_ERROR } from './catalog.js';

interface RefusedRequest extends Pick<Request, 'id' | 'log'> {
  /** BASE_URL. */
  baseUrl: string;
}

/** An error response for merchants, before it is sent over HTTP or MCP. */
export interface MerchantError {
  status: number;
  headers: Record<string, string>;
  code: string;
  /** The Error object as JSON. */
  text: string;
}

/**
 * Errors other than refusals are logged and answered with a general message: 503 when Postgres is unavailable or busy, else
 * 500.
 */
export function merchantError(error: unknown, request: RefusedRequest): MerchantError {
  const refusal = asRefusal(error);
  if (refusal !== undefined) return refused(refusal, request);
  const failure = logFailure(error, request);
  if (failure === 'busy') return refused(busyRefusal(error), request);
  if (failure === 'database_away') return refused(AWAY, request);
  const { status, type, code } = INTERNAL_ERROR;
  const message =
    'Something went wrong on our side. Try again; with an Idempotency-Key nothing happens twice.';
  return { status, headers: {}, code, text: render({ type, code, message }, request) };
}

const AWAY = new Refusal(
  'service_unavailable',
  'The service cannot reach its database, or cannot write to it. Try again in a few seconds; with an Idempotency-Key nothing happens twice.',
  { retryAfterSeconds: 5 },
);

function busyRefusal(error: unknown): Refusal {
  if (error instanceof Busy && error.reason === 'connections') {
    const message =
      'Too many requests of this account are being handled at once. Nothing was done. Send fewer at the same time, and try again.';
    return new Refusal('rate_limit', message, { retryAfterSeconds: 1 });
  }
  const message =
    error instanceof Busy
      ? 'Other requests are changing the same object. Nothing was done. Try again in a few seconds.'
      : 'The database is too busy for this request. Nothing was done. Try again in a few seconds.';
  return new Refusal('service_unavailable', message, { retryAfterSeconds: 2 });
}

/** Express throws a URIError for broken percent-encoding in a path parameter. */
function asRefusal(error: unknown): Refusal | undefined {
  if (error instanceof Refusal) return error;
  if (!(error instanceof URIError)) return undefined;
  return new Refusal(
    'resource_missing',
    'The id in the path is not percent-encoded correctly. Check that it is complete.',
    {
      param: 'id',
    },
  );
}

function refused({ code, message, details }: Refusal, request: RefusedRequest): MerchantError {
  const { status, type } = ERROR_CATALOG[code];
  const { allow, param, retryAfterSeconds } = details;
  return {
    status,
    headers: {
      ...(status === 401 && { 'WWW-Authenticate': 'Bearer realm="stablecoin-checkout"' }),
      ...(allow !== undefined && { Allow: allow }),
      ...(retryAfterSeconds !== undefined && { 'Retry-After': String(retryAfterSeconds) }),
    },
    code,
    text: render({ type, code, message, ...(param !== undefined && { param }) }, request),
  };
}

function render(
  error: { type: ErrorType; code: string; message: string; param?: string },
  { id, baseUrl }: RefusedRequest,
): string {
  const docUrl = `${baseUrl}/docs/errors#${error.code}`;
  return JSON.stringify({ error: { ...error, doc_url: docUrl, request_id: id } });
}

export function renderMerchantErrors(baseUrl: string): ErrorRequestHandler {
  return (error: unknown, req, res, next) => {
    if (res.headersSent) {
      next(error);
      return;
    }
    const { status, headers, code, text } = merchantError(error, { id: req.id, log: req.log, baseUrl });
    res.set(headers);
    res.locals.errorCode = code;
    res.status(status);
    sendJson(res, text);
  };
}
