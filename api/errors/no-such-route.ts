import type { RequestHandler } from 'express';
import { Refusal } from '../../shared/errors/refusal.js';

export const unknownPath: RequestHandler = (req) => {
  const [path = ''] = req.originalUrl.split('?', 1);
  throw new Refusal(
    'unknown_path',
    `There is nothing at ${req.method} ${path.slice(0, 200)}. Check the path.`,
  );
};

/** Answers other methods than GET and HEAD at pages, documents and checks. */
export const readOnly: RequestHandler = methodNotAllowed('GET, HEAD');

export function methodNotAllowed(allow: string): RequestHandler {
  return (req) => {
    throw new Refusal('method_not_allowed', `${req.method} is not supported here. Use ${allow}.`, { allow });
  };
}
