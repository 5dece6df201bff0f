import type { RequestHandler } from 'express';
import type { Deps } from '../deps.js';
import { identify } from './authenticate.js';
import { consumeAccount } from './rate-limit.js';

/** Whoever has a checkout key, within its account's share; in one layer, since every request of the API passes it. */
export function admit({ db, apiRateLimiter }: Pick<Deps, 'db' | 'apiRateLimiter'>): RequestHandler {
  return async (req, res, next) => {
    res.setHeader('Cache-Control', 'no-store');
    req.principal = await identify(db, req);
    await consumeAccount(apiRateLimiter, req.principal);
    next();
  };
}
