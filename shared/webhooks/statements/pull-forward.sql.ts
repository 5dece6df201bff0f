import type { Statement } from '../../db/statement.js';
import { NOT_QUARANTINED } from './take-due.sql.js';

/**
 * Deliveries that are due further from now ($1) than the pause after their tries ($3, in ms), or their lease ($2), and a minute allow.
 * Reads every pending delivery, so it runs rarely.
 */
export const PULL_FORWARD: Statement = {
  name: undefined,
  text: `
    WITH far AS (
      SELECT id FROM webhook_deliveries
      WHERE due_at IS NOT NULL AND ${NOT_QUARANTINED}
        AND due_at > $1::timestamptz + interval '1 minute'
          + interval '1 ms' * greatest($2::float8, coalesce(($3::float8[])[tries], 0))
      FOR NO KEY UPDATE SKIP LOCKED
    )
    UPDATE webhook_deliveries delivery
    SET due_at = $1, leased_until = CASE WHEN leased_until IS NOT NULL
      THEN least(leased_until, $1::timestamptz + interval '1 ms' * $2::float8) END
    FROM far WHERE delivery.id = far.id`,
};
