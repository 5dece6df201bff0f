import type { Statement } from '../../db/statement.js';

export const FAILING_ENDPOINTS: Statement = {
  text: `
    SELECT id FROM (
      (SELECT id, failing_since AS since FROM webhook_endpoints
        WHERE failing_since IS NOT NULL AND deleted_at IS NULL ORDER BY failing_since LIMIT $1)
      UNION ALL
      (SELECT id, unreadable_since FROM webhook_endpoints
        WHERE unreadable_since IS NOT NULL AND deleted_at IS NULL ORDER BY unreadable_since LIMIT $1)
    ) failing
    GROUP BY id ORDER BY min(since) LIMIT $1`,
};

/** The latest try among the newest deliveries of an endpoint. */
export const LAST_TRY: Statement = {
  text: `
    SELECT history -> -1 AS entry
    FROM (SELECT history FROM webhook_deliveries WHERE endpoint_id = $1 ORDER BY id DESC LIMIT 100) newest
    WHERE history -> -1 IS NOT NULL
    ORDER BY history -> -1 ->> 'at' DESC LIMIT 1`,
};
