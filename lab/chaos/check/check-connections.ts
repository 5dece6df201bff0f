import type { Books } from './books.js';

/** Of what the service has asked a moment ago the next statement may be on its way. */
const MOMENT_SECONDS = 2;

/** Once all has healed nothing stays in an open transaction: whoever opened it has gone on, or its connection has ended. */
export function checkConnections({ idleInTransaction }: Books): string[] {
  return idleInTransaction
    .filter(({ seconds }) => seconds > MOMENT_SECONDS)
    .map(
      ({ pid, since, query }) =>
        `connection ${pid} has been idle in a transaction since ${since}, after: ${query}`,
    );
}
