import { ConfigError } from '../config/config.js';
import type { Knex } from '../db/knex.js';
import { withTimeout } from '../process/timeout.js';
import type { SecretBox } from '../secrets/secrets.js';
import { countIfNoneOpens } from '../webhooks/unreadable.js';

const ANSWER_WITHIN_MS = 3000;

/**
 * Refuses the start with an ENCRYPTION_KEY that opens none of the newest webhook secrets, so that a roll of the wrong key
 * stops at the first process. A database that does not answer, or that is not migrated, is reported elsewhere.
 */
export async function checkEncryptionKey(db: Knex, box: SecretBox): Promise<void> {
  const count = await withTimeout(ANSWER_WITHIN_MS, countIfNoneOpens(db, box)).catch(() => 0);
  if (count === 0) return;
  throw new ConfigError(
    `ENCRYPTION_KEY opens none of the ${count} newest webhook secrets in the database: it lacks the key that sealed them. Add that key after a comma.`,
  );
}
