import type { Request, RequestHandler, Response } from 'express';
import { type LoginLimiter, openLoginLimiter } from '../../shared/limits/login-limiter.js';
import type { Logger } from '../../shared/process/logger.js';
import { bearerMatches, secretsMatch } from '../../shared/secrets/secrets.js';
import { addressKey } from '../limits/address-key.js';

export const ADMIN_USER = 'admin';
const MAX_AUTHORIZATION_LENGTH = 4096;

/** A page of operators, and the credentials that open it. */
interface GuardedPage {
  page: string;
  isRight(authorization: string): boolean;
  challenge: string;
  hint: string;
}

export function requirePassword(password: string, logger: Logger): RequestHandler {
  return guard(logger, {
    page: '/admin',
    isRight: (authorization) => secretsMatch(basicCredentials(authorization), `${ADMIN_USER}:${password}`),
    challenge: 'Basic realm="operators", charset="UTF-8"',
    hint: `User ${ADMIN_USER}, with ADMIN_PASSWORD.\n`,
  });
}

export function requireMetricsToken(token: string, logger: Logger): RequestHandler {
  return guard(logger, {
    page: '/metrics',
    isRight: (authorization) => bearerMatches(authorization, token),
    challenge: 'Bearer',
    hint: 'Send METRICS_TOKEN as bearer token.\n',
  });
}

function guard(logger: Logger, { page, isRight, challenge, hint }: GuardedPage): RequestHandler {
  const limiter = openLoginLimiter(() => logger.warn({ event: 'operators.password_guessed', page }));
  return (req, res, next) => {
    const verdict = check(limiter, req, isRight);
    if (verdict === true) next();
    else if (verdict === false) refuse(res.status(401).setHeader('WWW-Authenticate', challenge), hint);
    else {
      res.status(429).setHeader('Retry-After', String(verdict.retryAfterSeconds));
      refuse(res, 'Too many wrong passwords. Wait as long as Retry-After says.\n');
    }
  };
}

/** A request without credentials, as a browser's first one, does not count. */
function check(
  limiter: LoginLimiter,
  req: Request,
  isRight: GuardedPage['isRight'],
): ReturnType<LoginLimiter['check']> {
  const { authorization } = req.headers;
  return authorization !== undefined && limiter.check(addressKey(req), () => isRight(authorization));
}

function refuse(res: Response, text: string): void {
  res.type('text/plain').send(text);
}

function basicCredentials(authorization: string): string {
  if (authorization.length > MAX_AUTHORIZATION_LENGTH) return '';
  const [, encoded = ''] = /^Basic +(\S+)$/i.exec(authorization) ?? [];
  return Buffer.from(encoded, 'base64').toString('utf8');
}
