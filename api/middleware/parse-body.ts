import type { Request } from 'express';
import { Refusal } from '../../shared/errors/refusal.js';
import { MAX_BODY_DEPTH, MAX_BODY_VALUES } from '../../shared/limits/bounds.js';
import { isJsonObject } from '../../shared/values/json-object.js';
import { parseBracketForm } from '../input/bracket-form.js';
import { parseNothing } from '../input/input-parser.js';
import type { RawInput } from '../input/normalize.js';
import { isTooHeavy, type Weight, weighForm, weighJson } from '../input/weigh.js';

/** The body, JSON or Stripe's form encoding. An empty body is `{}` whatever its content type. */
export function bodyOf(req: Request): RawInput {
  const bytes: unknown = req.body;
  if (!Buffer.isBuffer(bytes) || bytes.length === 0) return { encoding: 'json', value: {} };
  const type = (req.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (type === 'application/x-www-form-urlencoded') {
    return parseForm(bytes, 'body');
  }
  if (type === 'application/json' || /^application\/[\w.-]+\+json$/.test(type)) {
    return { encoding: 'json', value: parseJson(bytes) };
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

function parseJson(bytes: Buffer): unknown {
  refuseTooHeavy(weighJson(bytes), 'body');
  const text = textOf(bytes);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw malformed('The request body is not valid JSON.');
  }
  if (isJsonObject(value)) return value;
  throw malformed('The request body must be a JSON object.');
}

function parseForm(bytes: Buffer, what: 'body' | 'query'): RawInput {
  refuseTooHeavy(weighForm(bytes), what);
  const value = parseBracketForm(bytes);
  if (value === undefined) throw malformed(`The percent-encoding of the ${what} is not that of UTF-8 text.`);
  return { encoding: 'form', value };
}

function refuseTooHeavy(weight: Weight, what: 'body' | 'query'): void {
  if (!isTooHeavy(weight)) return;
  throw new Refusal(
    'body_too_large',
    `The ${what} must hold at most ${MAX_BODY_VALUES} values, nested at most ${MAX_BODY_DEPTH} deep.`,
  );
}

function malformed(message: string): Refusal {
  return new Refusal('malformed_body', message);
}

const NO_QUERY = parseForm(Buffer.alloc(0), 'query');

/** The query string, parsed like a form. */
export function queryOf(req: Request): RawInput {
  const start = req.originalUrl.indexOf('?');
  return start === -1 ? NO_QUERY : parseForm(Buffer.from(req.originalUrl.slice(start + 1)), 'query');
}

/** Refuses every query parameter as unknown. */
export function requireNoQuery(req: Request): void {
  parseNothing(queryOf(req));
}
