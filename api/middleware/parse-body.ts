import express, { type NextFunction, type Request, type RequestHandler, type Response } from 'express';
import { Refusal } from '../../shared/domain/errors.js';
import { MAX_BODY_BYTES } from '../../shared/domain/weight.js';
import { parseBracketForm } from '../input/bracket-form.js';
import { parseNothing } from '../input/input-parser.js';
import type { RawInput } from '../input/normalize.js';

/** The largest legal create has less than 1,500; a million would hold everyone else up while they are sorted out. */
const MAX_FORM_PAIRS = 20_000;

const readBytes = express.raw({ type: () => true, limit: MAX_BODY_BYTES });

/** Reads the whole body as bytes; what they mean is `bodyOf`'s to say. */
export const readBody: RequestHandler = (req: Request, res: Response, next: NextFunction) => {
  if (Number(req.headers['content-length']) > MAX_BODY_BYTES) {
    // Refused before it is sent: what follows on this connection would be the body.
    res.setHeader('Connection', 'close');
    next(tooLarge());
    return;
  }
  readBytes(req, res, (error?: unknown) => {
    if (error !== undefined) next(refusalOf(error));
    else
      next(isLeftUnread(req) ? malformed('The connection was closed before the body was read.') : undefined);
  });
};

/** Of a client that has hung up meanwhile, express reads no body, which must not be taken for an empty one. */
function isLeftUnread({ headers, body }: Request): boolean {
  const hasBody = Number(headers['content-length']) > 0 || headers['transfer-encoding'] !== undefined;
  return hasBody && !Buffer.isBuffer(body);
}

function tooLarge(): Refusal {
  return new Refusal(
    'body_too_large',
    `The request body must be at most ${MAX_BODY_BYTES / 1024 / 1024} MiB.`,
  );
}

function refusalOf(error: unknown): unknown {
  const type = error instanceof Error && 'type' in error ? error.type : undefined;
  switch (type) {
    case 'entity.too.large':
      return tooLarge();
    case 'encoding.unsupported':
      return new Refusal(
        'unsupported_content_type',
        'Send the body without Content-Encoding, or with gzip, deflate or br.',
      );
    case 'request.aborted':
    case 'request.size.invalid':
      return malformed('The request body ended before its Content-Length.');
    default:
      // Broken compressed data has no type of its own.
      return error instanceof Error && 'status' in error && error.status === 400
        ? malformed('The request body cannot be read. Check that it is whole, and its Content-Encoding.')
        : error;
  }
}

/** The body as sent: JSON or Stripe-style form. An empty body is `{}` whatever its content type. */
export function bodyOf(req: Request): RawInput {
  const bytes: unknown = req.body;
  if (!Buffer.isBuffer(bytes) || bytes.length === 0) return { encoding: 'json', value: {} };
  const type = (req.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (type === 'application/x-www-form-urlencoded') {
    return parseForm(textOf(bytes), 'body');
  }
  if (type === 'application/json' || /^application\/[\w.-]+\+json$/.test(type)) {
    return { encoding: 'json', value: parseJson(textOf(bytes)) };
  }
  throw new Refusal(
    'unsupported_content_type',
    'Send the body as application/json or application/x-www-form-urlencoded, and say which in Content-Type.',
  );
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function textOf(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw malformed('The request body is not UTF-8.');
  }
}

function parseJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw malformed('The request body is not valid JSON.');
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw malformed('The request body must be a JSON object.');
}

function parseForm(text: string, what: 'body' | 'query'): RawInput {
  if (hasMorePairs(text, MAX_FORM_PAIRS)) {
    throw new Refusal('body_too_large', `The ${what} must hold at most ${MAX_FORM_PAIRS} parameters.`);
  }
  const value = parseBracketForm(text);
  if (value === undefined) throw malformed(`The percent-encoding of the ${what} is not that of UTF-8 text.`);
  return { encoding: 'form', value };
}

function hasMorePairs(text: string, limit: number): boolean {
  let count = 1;
  for (let at = text.indexOf('&'); at !== -1 && count <= limit; at = text.indexOf('&', at + 1)) count += 1;
  return count > limit;
}

function malformed(message: string): Refusal {
  return new Refusal('malformed_body', message);
}

const NO_QUERY = parseForm('', 'query');

/** The query string, parsed like a form. */
export function queryOf(req: Request): RawInput {
  const start = req.originalUrl.indexOf('?');
  return start === -1 ? NO_QUERY : parseForm(req.originalUrl.slice(start + 1), 'query');
}

/** Requests that take no query parameters refuse them like any other unknown parameter. */
export function requireNoQuery(req: Request): void {
  parseNothing(queryOf(req));
}
