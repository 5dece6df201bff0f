import type { Request, RequestHandler } from 'express';
import { findPrincipal, type Principal, requireFullAccess } from '../../shared/accounts/api-keys.js';
import { Refusal } from '../../shared/errors/refusal.js';
import type { Deps } from '../deps/deps.js';
import { consumeForAnswer, limitRefused, mayOnlyRead } from './rate-limit.js';

/** The characters of the header that are read; a checkout key has some 50. */
const MAX_AUTHORIZATION_LENGTH = 4096;
/** Stripe's SDKs send their options `stripeAccount` and `stripeContext` in these. */
const ACCOUNT_HEADERS = ['Stripe-Account', 'Stripe-Context'];

type KeyDeps = Pick<Deps, 'db' | 'addressLimiters' | 'keyUses'>;

/** Accepts a checkout key as Bearer token or as user name of Basic authentication. */
export function authenticate(deps: KeyDeps): RequestHandler {
  return async (req, _res, next) => {
    req.principal = await identify(deps, req);
    next();
  };
}

/** Authenticates and applies the rate limit in one layer, since Express costs each request per layer. */
export function admit(deps: KeyDeps & Pick<Deps, 'apiRateLimiter'>): RequestHandler {
  return async (req, res, next) => {
    res.setHeader('Cache-Control', 'no-store');
    req.principal = await identify(deps, req);
    await consumeForAnswer(deps.apiRateLimiter, req.principal, req);
    if (!mayOnlyRead(req)) requireFullAccess(req.principal);
    requireOwnAccount(req, req.principal);
    next();
  };
}

async function identify({ db, addressLimiters, keyUses }: KeyDeps, req: Request): Promise<Principal> {
  const identified = findPrincipal(db, checkoutKey(req.headers.authorization));
  const principal = await limitRefused(addressLimiters, req, identified);
  keyUses.note(principal.keyId);
  return principal;
}

/** A link created for another account than the request names would be paid into the wrong wallet. */
function requireOwnAccount(req: Request, { accountId }: Principal): void {
  for (const name of ACCOUNT_HEADERS) {
    const named = req.get(name) ?? '';
    if (named === '' || named === accountId) continue;
    const message = `A key acts for its own account only, ${accountId}. Remove the header ${name}, or send a key of the account that it names.`;
    throw new Refusal('parameter_invalid', message, { param: name });
  }
}

function checkoutKey(sent: string | undefined): string {
  const header = sent?.slice(0, MAX_AUTHORIZATION_LENGTH);
  const bearer = bearerToken(header);
  if (bearer !== undefined) return bearer;
  const [, encoded] = /^basic +(.+)$/i.exec(header ?? '') ?? [];
  const [user] = Buffer.from(encoded ?? '', 'base64')
    .toString('utf8')
    .split(':');
  if (user === undefined || user === '') {
    throw new Refusal(
      'api_key_missing',
      'No API key was sent. Send it as "Authorization: Bearer <key>", or as the user name of Basic authentication.',
    );
  }
  return user;
}

export function bearerToken(header: string | undefined): string | undefined {
  const [, token] = /^bearer +(\S+) *$/i.exec(header ?? '') ?? [];
  return token;
}
