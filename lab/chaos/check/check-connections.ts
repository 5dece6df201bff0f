import type { Evidence } from './evidence.js';

/** Within this time after a query, the service may still be sending the next statement. */
const MOMENT_SECONDS = 2;

/** After recovery no transaction stays open: its process has continued, or its connection has ended. */
export function checkConnections({ idleInTransaction }: Evidence): string[] {
  return idleInTransaction
    .filter(({ seconds }) => seconds > MOMENT_SECONDS)
    .map(
      ({ pid, since, query }) =>
        `connection ${pid} has been idle in a transaction since ${since}, after: ${query}`,
    );
}
