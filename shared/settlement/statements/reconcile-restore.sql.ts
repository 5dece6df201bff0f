import type { Statement } from '../../db/statement.js';

/**
 * Each is taken for one that was asked for just now, whatever its row remembers: no call goes out for it before the longest
 * of those that the backup has forgotten would have ended, and its chain is asked first.
 */
export const DISTRUST_UNDECIDED: Statement = {
  name: undefined,
  text: `
    UPDATE payments SET stage = 'confirm', due_at = now(), settle_calls = greatest(settle_calls, 1),
      settle_asked_at = now(), settle_ended_at = NULL,
      settle_unclear = settle_unclear OR reported_transaction IS NULL,
      unused_seen_at = NULL, unreadable_since = NULL, attempt = attempt + 1
    WHERE status = 'processing'
    RETURNING id, payable_id AS "sessionId"`,
};
