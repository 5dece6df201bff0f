import { ConfigError } from '../config/config.js';
import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import type { Logger } from '../process/logger.js';
import { withTimeout } from '../process/timeout.js';
import type { SecretBox } from '../secrets/secrets.js';
import { countIfNoneOpens } from '../webhooks/unreadable.js';

const ANSWER_WITHIN_MS = 3000;

interface Contact {
  db: Knex;
  secretBox: SecretBox;
  logger: Logger;
}

/**
 * The first question of a process to Postgres. A database that does not answer gets a line. An ENCRYPTION_KEY that opens none
 * of the newest webhook secrets is refused, so that a roll of the wrong key stops at the first process.
 */
export async function firstContact({ db, secretBox, logger }: Contact): Promise<void> {
  try {
    await withTimeout(ANSWER_WITHIN_MS, runStatement(db, { name: undefined, text: 'SELECT 1' }, []));
  } catch (error) {
    logger.warn({
      event: 'database.not_reached',
      err: error,
      hint: 'The database of DATABASE_URL does not answer within three seconds. The process goes on trying; until then /readyz is 503.',
    });
    return;
  }
  // A database that is not migrated yet has no such table, and /readyz says so.
  const count = await withTimeout(ANSWER_WITHIN_MS, countIfNoneOpens(db, secretBox)).catch(() => 0);
  if (count === 0) return;
  throw new ConfigError(
    `ENCRYPTION_KEY opens none of the ${count} newest webhook secrets in the database: it lacks the key that sealed them. Add that key after a comma.`,
  );
}
