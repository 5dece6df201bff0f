import { ConfigError } from '../config/config.js';
import { whyUnusable } from '../db/connection.js';
import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import type { Logger } from '../process/logger.js';
import { TimedOut, withTimeout } from '../process/timeout.js';
import type { SecretBox } from '../secrets/secrets.js';
import { countIfNoneOpens } from '../webhooks/unreadable-secrets.js';

const ANSWER_WITHIN_MS = 3000;

/** Logs a line when Postgres does not answer a process that starts without it. Sessions that it cannot use end the start. */
export async function firstContact({
  db,
  secretBox,
  logger,
}: {
  db: Knex;
  secretBox: SecretBox;
  logger: Logger;
}): Promise<void> {
  try {
    await withTimeout(ANSWER_WITHIN_MS, runStatement(db, { text: 'SELECT 1' }, []));
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    logger.warn({
      event: 'database.not_reached',
      err: error,
      hint: `${why(error)} The process goes on trying; until then /readyz is 503.`,
    });
    return;
  }
  await checkEncryptionKey(db, secretBox);
}

function why(error: unknown): string {
  if (error instanceof TimedOut || !(error instanceof Error))
    return 'The database of DATABASE_URL does not answer within three seconds.';
  const sentence = whyUnusable(error);
  return sentence.endsWith('.') ? sentence : `${sentence}.`;
}

/**
 * Refuses the start with an ENCRYPTION_KEY that opens none of the newest webhook secrets, so that a roll of the wrong key
 * stops at the first process. A database that is not migrated yet has no such table, and /readyz says so.
 */
export async function checkEncryptionKey(db: Knex, box: SecretBox): Promise<void> {
  const count = await withTimeout(ANSWER_WITHIN_MS, countIfNoneOpens(db, box)).catch(() => 0);
  if (count === 0) return;
  throw new ConfigError(
    `ENCRYPTION_KEY opens none of the ${count} newest webhook secrets in the database: it lacks the key that sealed them. Add that key after a comma.`,
  );
}
