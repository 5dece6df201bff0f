import type { ErrorRequestHandler } from 'express';
import { type Principal, requireKeyThatCounts } from '../../shared/accounts/api-keys.js';
import type { Knex } from '../../shared/db/knex.js';
import { Refusal } from '../../shared/errors/refusal.js';
import { ERROR_CATALOG } from '../errors/catalog.js';

/**
 * What is refused before its first statement has not been asked whether its key still counts. It is asked here, so that
 * a revoked key is told 401 whatever else is wrong, and a good request pays no round trip for that.
 */
export async function revokedOr(
  error: unknown,
  db: Knex,
  principal: Principal | undefined,
): Promise<unknown> {
  const isRefused = error instanceof Refusal && ERROR_CATALOG[error.code].status !== 401;
  if (!isRefused || principal === undefined) return error;
  return await requireKeyThatCounts(db, principal).then(
    () => error,
    (revoked: unknown) => revoked,
  );
}

/** Whoever has used up the account's share hears that before what else is wrong, and that the key is revoked before both. */
export function revokedFirst(db: Knex): ErrorRequestHandler {
  return async (error: unknown, req, _res, next) => {
    const first = await (req.consumed ?? Promise.resolve()).then(
      () => error,
      (usedUp: unknown) => usedUp,
    );
    next(await revokedOr(first, db, req.principal));
  };
}
