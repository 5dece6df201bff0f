import type { ErrorRequestHandler } from 'express';
import type { Knex } from '../../shared/db/knex.js';
import { Refusal } from '../../shared/domain/errors.js';
import { requireKeyThatCounts } from '../../shared/services/access/api-keys.js';
import { ERROR_CATALOG } from '../errors/catalog.js';

/**
 * A request that is refused before its first statement has not been asked whether its key still counts. It is asked
 * here, so that a revoked key is told 401 whatever else is wrong, and a good request pays no round trip for that.
 */
export function revokedFirst(db: Knex): ErrorRequestHandler {
  return async (error: unknown, req, _res, next) => {
    const isRefused = error instanceof Refusal && ERROR_CATALOG[error.code].status !== 401;
    if (isRefused && req.principal !== undefined) await requireKeyThatCounts(db, req.principal);
    next(error);
  };
}
