import type { Principal } from '../../shared/accounts/api-keys.js';
import type { Refusal } from '../../shared/errors/refusal.js';
import type { Logger } from '../../shared/process/logger.js';

declare global {
  namespace Express {
    interface Request {
      /** `req_…`, also the Request-Id header. */
      id: string;
      log: Logger;
      /** Set by the middleware of `authenticate.ts`; routes behind it read it through `principalOf`. */
      principal?: Principal;
      /**
       * The rate limit check of this request: rejects when the account is over its limit. Awaited before the
       * response is sent.
       */
      consumed?: Promise<void>;
    }
    interface Locals {
      /** The MCP tool that was called. */
      tool?: string | undefined;
      /** Set when an MCP request is over the rate limit: the refusal to answer with. */
      tooMany?: Refusal | undefined;
      errorCode?: string | undefined;
      /** The session or refund in the path of a payment link, or in the answer to a merchant. */
      session?: string | undefined;
    }
  }
}

export function principalOf(req: Express.Request): Principal {
  if (req.principal === undefined) throw new Error('this route is not behind authenticate()');
  return req.principal;
}
