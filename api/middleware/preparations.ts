import type { Request, RequestHandler, Response } from 'express';
import type { Deps } from '../deps/deps.js';

/** Middleware that never ends a request. */
export type Preparation = (req: Request, res: Response) => void;

/** Runs all of them in one layer: Express matches each layer and builds a `next` for it on every request. */
export function inOneLayer(...preparations: readonly Preparation[]): RequestHandler {
  return (req, res, next) => {
    for (const prepare of preparations) prepare(req, res);
    next();
  };
}

/**
 * Warns once when requests come through a proxy that TRUST_PROXY does not name: all buyers would share its address
 * and rate limit.
 */
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
