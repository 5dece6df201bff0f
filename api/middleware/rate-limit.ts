import { Refusal } from '../../shared/domain/errors.js';
import type { Principal } from '../../shared/services/access/api-keys.js';
import type { RateLimiter } from '../rate-limiters.js';

/** Per account and mode, over all keys and all processes. */
export async function consumeAccount(
  limiter: RateLimiter,
  { accountId, livemode }: Pick<Principal, 'accountId' | 'livemode'>,
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
