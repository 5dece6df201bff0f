import type { RequestHandler } from 'express';
import { Refusal } from '../../shared/domain/errors.js';
import type { RateLimiter } from '../rate-limiters.js';
import { principalOf } from '../request-context.js';

/** Per account and mode, over all keys and all processes. */
export function limitAccount(limiter: RateLimiter): RequestHandler {
  return async (req, _res, next) => {
    const { accountId, livemode } = principalOf(req);
    await consumeAccount(limiter, accountId, livemode);
    next();
  };
}

export async function consumeAccount(
  limiter: RateLimiter,
  accountId: string,
  livemode: boolean,
): Promise<void> {
  const waitMs = await limiter.take(`${accountId}-${livemode ? 'live' : 'test'}`);
  if (waitMs === undefined) return;
  throw new Refusal(
    'rate_limit',
    'Too many requests for this account in this mode. Slow down and try again.',
    { retryAfterSeconds: retryAfterSeconds(waitMs) },
  );
}

export function retryAfterSeconds(waitMs: number): number {
  return Math.max(1, Math.ceil(waitMs / 1000));
}
