import type { Request } from 'express';
import { Busy } from '../../shared/db/busy.js';
import { isDatabaseUnavailable, isGivenUp } from '../../shared/db/postgres-errors.js';

/** Why a request failed unexpectedly: other requests of its account, Postgres, or an error in this service. */
export type Failure = 'busy' | 'database_away' | 'internal';

/** Logs an unexpected error. Only one of this service's own is `request.failed`, which pages an operator. */
export function logFailure(
  error: unknown,
  { id, log }: Pick<Request, 'id' | 'log'>,
  session?: unknown,
): Failure {
  const line = { request_id: id, ...(session !== undefined && { session }), err: error };
  if (error instanceof Busy || isGivenUp(error)) {
    log.warn({ event: 'request.busy', ...line });
    return 'busy';
  }
  if (isDatabaseUnavailable(error)) {
    log.error({ event: 'database.away', ...line });
    return 'database_away';
  }
  log.error({ event: 'request.failed', ...line });
  return 'internal';
}
