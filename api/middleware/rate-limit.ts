import type { Request, RequestHandler, Response } from 'express';
import type { Principal } from '../../shared/accounts/api-keys.js';
import { Refusal } from '../../shared/errors/refusal.js';
import { retryAfterSeconds } from '../../shared/limits/retry-after.js';
import { ERROR_CATALOG } from '../errors/catalog.js';
import { addressKey } from '../limits/address-key.js';
import type { AccountLimiter, AddressLimiters, RequestLimiter } from '../limits/rate-limiters.js';

type Share = Pick<Principal, 'accountId' | 'livemode'>;

/** Counts a request of the account in its mode, over all keys and all processes. */
export async function consumeAccount(limiter: RequestLimiter, share: Share): Promise<void> {
  const waitMs = await limiter.take(keyOf(share));
  if (waitMs === undefined) return;
  throw new Refusal(
    'rate_limit',
    'Too many requests for this account in this mode. Slow down and try again.',
    { retryAfterSeconds: retryAfterSeconds(waitMs) },
  );
}

/** Counts a request that writes `rows` rows, one for each endpoint, as so many requests. One is counted already. */
export async function consumeRows(limiter: AccountLimiter, share: Share, rows: number): Promise<void> {
  const waitMs = rows > 1 ? await limiter.takeMore(keyOf(share), rows - 1) : undefined;
  if (waitMs === undefined) return;
  throw new Refusal(
    'rate_limit',
    `This request writes ${rows} deliveries, one for each webhook endpoint, and so counts as ${rows} requests, which is too many now. Nothing was done. Wait as long as Retry-After says, and try again.`,
    { retryAfterSeconds: retryAfterSeconds(waitMs) },
  );
}

function keyOf({ accountId, livemode }: Share): string {
  return `${accountId}-${livemode ? 'live' : 'test'}`;
}

/**
 * Counts like `consumeAccount`. A GET or HEAD starts while the limiter is asked, and its answer is discarded when the limiter
 * refuses it. After a refused request of the account, nothing starts early.
 */
export async function consumeForAnswer(limiter: RequestLimiter, share: Share, req: Request): Promise<void> {
  const mayBegin = mayOnlyRead(req) && !limiter.hasRefused(keyOf(share));
  const consumed = consumeAccount(limiter, share);
  if (!mayBegin) return await consumed;
  req.consumed = consumed;
  // The response is sent after this resolves.
  consumed.catch(() => undefined);
}

/** Whether the method promises that the request changes nothing. */
export function mayOnlyRead({ method }: Request): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** Refused keys and tokens count against their address; accepted ones do not. */
export async function limitRefused<T>(
  { refusedKey }: AddressLimiters,
  req: Request,
  identified: Promise<T>,
): Promise<T> {
  try {
    return await identified;
  } catch (error) {
    if (!(error instanceof Refusal) || ERROR_CATALOG[error.code].status !== 401) throw error;
    const waitMs = await refusedKey.take(addressKey(req));
    if (waitMs === undefined) throw error;
    throw new Refusal(
      'rate_limit',
      'Too many keys from this address were refused. Check the key, wait as long as Retry-After says, and try again.',
      { retryAfterSeconds: retryAfterSeconds(waitMs) },
    );
  }
}

/** The limit is per address, shared by all processes. */
export function limitByAddress(
  limiter: RequestLimiter,
  refuse: (req: Request, res: Response) => void,
): RequestHandler {
  return async (req, res, next) => {
    const waitMs = await limiter.take(addressKey(req));
    if (waitMs === undefined) return next();
    setRetryAfter(res, waitMs);
    refuse(req, res);
  };
}

export function setRetryAfter(res: Response, waitMs: number): void {
  res.setHeader('Retry-After', String(retryAfterSeconds(waitMs)));
}
