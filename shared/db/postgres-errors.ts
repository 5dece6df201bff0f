import { WrongDefaults } from './session-defaults.js';

export const LOCK_NOT_AVAILABLE = '55P03';
export const UNDEFINED_TABLE = '42P01';
const UNIQUE_VIOLATION = '23505';

/** The SQLSTATE of a failed statement; undefined when Postgres did not answer, as when the connection broke. */
export function sqlState(error: unknown): string | undefined {
  const { code } = postgresError(error);
  // Every SQLSTATE has a digit, unlike `EPIPE` and other codes of Node.
  return typeof code === 'string' && /^(?=.*\d)[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

/** Whether a statement failed because a row with this unique value exists; `constraint` is its index's name. */
export function violatesUnique(error: unknown, constraint: string): boolean {
  return sqlState(error) === UNIQUE_VIOLATION && postgresError(error).constraint === constraint;
}

/** True when Postgres refused the statement, so nothing was committed. Without an answer the statement may have been committed. */
export function isRefusal(error: unknown): boolean {
  const state = sqlState(error);
  // 57P: the server is shutting down. 08: the connection is broken.
  return state !== undefined && !state.startsWith('57P') && !state.startsWith('08');
}

/**
 * Postgres is unreachable, shutting down, read-only or out of resources: the statement itself is fine. A refused login (28),
 * an unknown database (3D000) and wrong defaults come while connecting only.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  const state = sqlState(error);
  if (state !== undefined) return /^(08|28|53|57P|25006|3D000)/.test(state);
  if (!(error instanceof Error)) return false;
  if (error instanceof WrongDefaults) return true;
  // Node tried several addresses of the host: only the errors within name the system call.
  if (error instanceof AggregateError) return error.errors.some(isDatabaseUnavailable);
  // A connection that cannot be made: no route to the host, no descriptor or port left, a socket that may not be used.
  if ('syscall' in error && (error.syscall === 'connect' || error.syscall === 'getaddrinfo')) return true;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  // Linux ends an open connection by EHOSTUNREACH when its peer's machine is gone.
  return /^(ECONN|EHOST|ENET|EPIPE|ETIMEDOUT|ENOENT)/.test(code) || UNAVAILABLE_MESSAGE.test(error.message);
}

/**
 * Postgres gave up a statement that is fine, and nothing was written: a timeout of its role or database (`statement_timeout`,
 * `lock_timeout`, `transaction_timeout`), a deadlock, or an operator who cancels it.
 */
export function isGivenUp(error: unknown): boolean {
  return /^(40001|40P01|55P03|57014|25P03|25P04)$/.test(sqlState(error) ?? '');
}

/** Errors of node-postgres and knex that have no code. */
const UNAVAILABLE_MESSAGE =
  /connection terminated|timeout (expired|exceeded)|timeout acquiring a connection|read timeout|client has encountered a connection error/i;

/** The messages of Postgres and of the driver, by error. */
const said = new WeakMap<object, string>();

/** Keeps the message of an error of the driver, before knex writes the statement in front of it. */
export function keepMessage(error: unknown): void {
  if (error instanceof Error) said.set(error, error.message);
}

/** The message of any error, without the statement: for a person who does not read SQL. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Node leaves its message empty when no address of a host takes a connection.
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join(', ');
  return said.get(postgresError(error)) ?? (error.message || error.name);
}

/** Objection wraps the driver's errors, knex does not. */
function postgresError(error: unknown): { code?: unknown; constraint?: unknown } {
  if (typeof error !== 'object' || error === null) return {};
  return 'nativeError' in error ? postgresError(error.nativeError) : error;
}
