import type { Principal } from '../../shared/accounts/api-keys.js';
import type { Refusal } from '../../shared/errors/refusal.js';
import type { Logger } from '../../shared/process/logger.js';

declare global {
  namespace Express {
    interface Request {
      /** `req_…`, also the Request-Id header. */
      id: string;
      log: Logger;
      /** Set by `authenticate`; routes behind it read it through `principalOf`. */
      principal?: Principal;
      /** Before this nothing is answered: it rejects when the account's share is used up. */
      consumed?: Promise<void>;
    }
    interface Locals {
      /** The tool that was called at /mcp. */
      tool?: string | undefined;
      /** What a request at /mcp is refused with for being one too many. */
      tooMany?: Refusal | undefined;
      errorCode?: string | undefined;
      /** Whose link was asked, of whatever is there. */
      session?: string;
    }
  }
}

export function principalOf(req: Express.Request): Principal {
  if (req.principal === undefined) throw new Error('this route is not behind authenticate()');
  return req.principal;
}
