import { clockCorrectionMs } from '../process/clock.js';
import type { Logger } from '../process/logger.js';
import type { Closable } from '../process/shutdown.js';
import type { PostgresClient } from './idle-connection.js';
import type { Knex } from './knex.js';
import { readClock } from './postgres-dialect.js';

/** Each new connection tells Postgres' clock; a process that needs none for long asks all the same. */
const EVERY_MS = 5000;
/** From here on a machine's clock is wrong enough for a person to be told: other programs on it have no Postgres to follow. */
const OFF_MS = 3000;

export function isClockOff(): boolean {
  return Math.abs(clockCorrectionMs()) > OFF_MS;
}

export function followClock(db: Knex, logger: Logger): Closable {
  let wasOff = false;
  let asking: Promise<void> | undefined;
  const look = async (): Promise<void> => {
    // When Postgres cannot be asked, all else says so.
    await ask(db).catch(() => undefined);
    if (isClockOff() !== wasOff) tell(logger);
    wasOff = isClockOff();
    asking = undefined;
  };
  const begin = (): void => {
    asking ??= look();
  };
  const timer = setInterval(begin, EVERY_MS);
  begin();
  return {
    async close() {
      clearInterval(timer);
      await asking;
    },
  };
}

async function ask({ client }: Knex): Promise<void> {
  const connection: PostgresClient = await client.acquireConnection();
  try {
    await readClock(connection);
  } catch (error) {
    client.afterFailure(connection, error);
    throw error;
  } finally {
    await client.releaseConnection(connection);
  }
}

function tell(logger: Logger): void {
  const seconds = clockCorrectionMs() / 1000;
  if (!isClockOff()) logger.info({ event: 'clock.right', seconds });
  else {
    logger.warn({
      event: 'clock.off',
      seconds,
      hint: "This machine's clock differs from Postgres' by so much, and the service follows Postgres'. Set it by NTP.",
    });
  }
}
