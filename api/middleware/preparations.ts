import type { Request, RequestHandler, Response } from 'express';
import type { Deps } from '../deps/deps.js';

/** Prepares a request or its answer, and stops none. */
export type Preparation = (req: Request, res: Response) => void;

/** Express looks at each layer, and builds a way out of it, for every request: preparations share one. */
export function inOneLayer(...preparations: readonly Preparation[]): RequestHandler {
  return (req, res, next) => {
    for (const prepare of preparations) prepare(req, res);
    next();
  };
}

/** Behind a router that nobody told us of, all buyers share its address, and its limit: one line says so. */
export function warnOfUntrustedProxy({ config, logger }: Deps): Preparation {
  let warned = !config.production || config.trustProxy !== false;
  return (req) => {
    if (!warned && req.headers['x-forwarded-for'] !== undefined) {
      warned = true;
      logger.warn({
        event: 'config.untrusted_proxy',
        hint: 'Requests carry X-Forwarded-For, but TRUST_PROXY is not set: limits per IP address count the proxy. Behind one router set TRUST_PROXY=1.',
      });
    }
  };
}
