const UNIQUE_VIOLATION = '23505';

/** What Postgres said of a statement that failed; undefined when it said nothing, as when the connection broke. */
export function sqlState(error: unknown): string | undefined {
  const { code } = postgresError(error);
  // Each has a digit, unlike EPIPE and its kin.
  return typeof code === 'string' && /^(?=.*\d)[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

/** Whether a statement failed because a row with this unique value exists; `constraint` is its index's name. */
export function violatesUnique(error: unknown, constraint: string): boolean {
  return sqlState(error) === UNIQUE_VIOLATION && postgresError(error).constraint === constraint;
}

/** Postgres said no and kept the connection: nothing was committed. Without its answer anything may have happened. */
export function isRefusal(error: unknown): boolean {
  const state = sqlState(error);
  // 57P is a server going down, 08 a broken connection.
  return state !== undefined && !state.startsWith('57P') && !state.startsWith('08');
}

/** Postgres cannot be reached, is going down or has no room: nothing is wrong with the statement. */
export function isDatabaseUnavailable(error: unknown): boolean {
  const state = sqlState(error);
  if (state !== undefined) return /^(08|53|57P|25006)/.test(state);
  if (!(error instanceof Error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|ENOENT)/.test(code) || AWAY_MESSAGE.test(error.message);
}

/** What node-postgres and knex say without a code. */
const AWAY_MESSAGE =
  /connection terminated|timeout (expired|exceeded)|timeout acquiring a connection|read timeout|client has encountered a connection error/i;

/** Objection wraps the driver's errors, knex does not. */
function postgresError(error: unknown): { code?: unknown; constraint?: unknown } {
  if (typeof error !== 'object' || error === null) return {};
  return 'nativeError' in error ? postgresError(error.nativeError) : error;
}
