import type { Request, RequestHandler } from 'express';
import { Refusal } from '../../shared/errors/refusal.js';

export const unknownPath: RequestHandler = (req) => {
  throw nothingAt(req, 'Check the path.');
};

/** Stripe's SDKs send a change of an object with an empty id to the list's path and a slash, where a POST would create one. */
export const postWithoutId: RequestHandler = (req, _res, next) => {
  if (req.method === 'POST' && req.path.endsWith('/')) {
    throw nothingAt(req, 'It ends with a slash, where an id may be missing.');
  }
  next();
};

function nothingAt({ method, originalUrl }: Request, advice: string): Refusal {
  const [path = ''] = originalUrl.split('?', 1);
  return new Refusal('unknown_path', `There is nothing at ${method} ${path.slice(0, 200)}. ${advice}`);
}

/** Answers other methods than GET and HEAD at pages, documents and checks. */
export const readOnly: RequestHandler = methodNotAllowed('GET, HEAD');

export function methodNotAllowed(allow: string): RequestHandler {
  return (req) => {
    throw new Refusal('method_not_allowed', `${req.method} is not supported here. Use ${allow}.`, { allow });
  };
}
