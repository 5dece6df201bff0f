import type { Statement } from '../../db/statement.js';
import { pauseAfter } from '../../upkeep/statements/work-in-flight.sql.js';

/**
 * Reads a page of the pending deliveries: $4 of them, after endpoint $5, due time $6 and id $7. Deliveries on it become due at
 * $1 when their due time lies further ahead than a lease ($2), or the pause after their tries ($3, in ms), with the pause after
 * crashes and a minute allow. Returns the last delivery of the page, if the page is full. All pages together are every pending
 * delivery, so callers read them rarely.
 */
export const REPAIR_DUE_TIMES: Statement = {
  text: `
    WITH page AS MATERIALIZED (
      SELECT id, endpoint_id, due_at, due_at > $1::timestamptz + interval '1 minute' + interval '1 ms' * greatest(
        $2::float8, coalesce(($3::float8[])[tries], 0)) + ${pauseAfter('lost_takes')} AS is_far
      FROM webhook_deliveries
      WHERE due_at IS NOT NULL AND (endpoint_id, due_at, id) > ($5::text, $6::timestamptz, $7::text)
      ORDER BY endpoint_id, due_at, id LIMIT $4::int
    ), far AS (
      -- Only while it is still due at that time: another worker may have taken the delivery meanwhile.
      SELECT delivery.id FROM page CROSS JOIN LATERAL (
        SELECT id FROM webhook_deliveries WHERE id = page.id AND due_at = page.due_at FOR NO KEY UPDATE SKIP LOCKED
      ) delivery
      WHERE page.is_far
    ), pulled AS (
      UPDATE webhook_deliveries
      SET due_at = $1, leased_until = CASE WHEN leased_until IS NOT NULL
        THEN least(leased_until, $1::timestamptz + interval '1 ms' * $2::float8) END
      WHERE id = ANY (ARRAY(SELECT id FROM far))
    )
    SELECT endpoint_id AS "endpointId", due_at::text AS "dueAt", id FROM page
    WHERE (SELECT count(*) FROM page) = $4::int ORDER BY endpoint_id DESC, page.due_at DESC, id DESC LIMIT 1`,
};
