import { clockCorrectionMs, DISAGREE_MS, doClocksDisagree } from '../process/clock.js';
import type { Logger } from '../process/logger.js';
import type { Closable } from '../process/shutdown.js';
import type { Knex } from './knex.js';
import { readServer } from './read-server.js';
import { withConnection } from './statement.js';

/** Each new connection reads Postgres' clock and position; the timer covers processes that open none for a long time. */
const INTERVAL_MS = 1000;
/** A host's clock that is wrong by more is logged: other programs on the host do not follow Postgres. */
const WARN_ABOVE_MS = 3000;

export function isClockOff(): boolean {
  return Math.abs(clockCorrectionMs()) > WARN_ABOVE_MS;
}

export function followClock(db: Knex, logger: Logger): Closable {
  let wasOff = false;
  let didDisagree = false;
  let reading: Promise<void> | undefined;
  const read = async (): Promise<void> => {
    // An unavailable Postgres is reported elsewhere.
    await readServerOf(db).catch(() => undefined);
    if (isClockOff() !== wasOff) logChange(logger);
    wasOff = isClockOff();
    if (doClocksDisagree() !== didDisagree) logDisagreement(logger);
    didDisagree = doClocksDisagree();
    reading = undefined;
  };
  const start = (): void => {
    reading ??= read();
  };
  const timer = setInterval(start, INTERVAL_MS);
  start();
  return {
    async close() {
      clearInterval(timer);
      await reading;
    },
  };
}

export async function readServerOf(db: Knex): Promise<void> {
  // The read bypasses `runStatement`, whose listeners see the statements of requests.
  await withConnection(db, (connection) => readServer(connection, db.client.config.commits));
}

function logChange(logger: Logger): void {
  const seconds = clockCorrectionMs() / 1000;
  if (!isClockOff()) logger.info({ event: 'clock.right', seconds });
  else {
    logger.warn({
      event: 'clock.off',
      seconds,
      hint: "This host's clock differs from Postgres' clock by this many seconds. The service follows Postgres' clock. Synchronize the host with NTP.",
    });
  }
}

function logDisagreement(logger: Logger): void {
  const seconds = clockCorrectionMs() / 1000;
  if (!doClocksDisagree()) logger.info({ event: 'clock.agrees', seconds });
  else {
    logger.warn({
      event: 'clock.disagrees',
      seconds,
      hint: `This host's clock and Postgres' clock differ by more than ${DISAGREE_MS / 1000} s, and one of them is wrong. What cannot be taken back, such as the expiry of a session, waits in this process until both say that it is time.`,
    });
  }
}
