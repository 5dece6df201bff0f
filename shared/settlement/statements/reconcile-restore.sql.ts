import type { Statement } from '../../db/statement.js';

/**
 * Every undecided payment is treated as if its `/settle` call had started now: no call is sent before a call that the backup
 * does not have would have ended, the chain is checked first, and a recorded refusal is no longer the last word.
 */
export const DISTRUST_UNDECIDED: Statement = {
  text: `
    UPDATE payments SET stage = 'confirm', due_at = now(), settle_calls = greatest(settle_calls, 1),
      settle_asked_at = now(), settle_ended_at = NULL,
      settle_unclear = settle_unclear OR reported_transaction IS NULL,
      unused_seen_at = NULL, failure_code = NULL, unreadable_since = NULL, attempt = attempt + 1
    WHERE status = 'processing'
    RETURNING id, payable_id AS "sessionId"`,
};
