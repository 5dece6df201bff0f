import type { RequestHandler } from 'express';
import { Refusal } from '../../shared/domain/errors.js';

/** Ends a route's list of methods. */
export function methodNotAllowed(allow: string): RequestHandler {
  return (req) => {
    throw new Refusal('method_not_allowed', `${req.method} is not possible here. Use ${allow}.`, { allow });
  };
}
