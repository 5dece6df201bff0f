import type { ErrorRequestHandler } from 'express';
import { type Principal, requireActiveKey } from '../../shared/accounts/api-keys.js';
import type { Knex } from '../../shared/db/knex.js';
import { Refusal } from '../../shared/errors/refusal.js';
import { ERROR_CATALOG } from '../errors/catalog.js';

/**
 * Returns the refusal of a revoked key, else `error`. A request that fails before its first query has not had its
 * key checked against the database; checking it here answers 401 for a revoked key without costing valid requests a
 * round trip.
 */
export async function revokedOrError(
  error: unknown,
  db: Knex,
  principal: Principal | undefined,
): Promise<unknown> {
  const isRefused = error instanceof Refusal && ERROR_CATALOG[error.code].status !== 401;
  if (!isRefused || principal === undefined) return error;
  return await requireActiveKey(db, principal).then(
    () => error,
    (revoked: unknown) => revoked,
  );
}

/** Order of precedence: revoked key, then rate limit, then the error itself. */
export function revokedFirst(db: Knex): ErrorRequestHandler {
  return async (error: unknown, req, _res, next) => {
    const first = await (req.consumed ?? Promise.resolve()).then(
      () => error,
      (limited: unknown) => limited,
    );
    next(await revokedOrError(first, db, req.principal));
  };
}
