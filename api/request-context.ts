import type { Logger } from '../shared/logger.js';
import type { Principal } from '../shared/services/api-keys.js';

declare global {
  namespace Express {
    interface Request {
      /** `req_…`, also the Request-Id header. */
      id: string;
      log: Logger;
      /** Set by `authenticate`; routes behind it read it through `principalOf`. */
      principal?: Principal;
    }
    interface Locals {
      errorCode?: string | undefined;
    }
  }
}

export function principalOf(req: Express.Request): Principal {
  if (req.principal === undefined) throw new Error('this route is not behind authenticate()');
  return req.principal;
}
