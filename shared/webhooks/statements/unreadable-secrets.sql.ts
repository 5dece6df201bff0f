import type { Statement } from '../../db/statement.js';

export const NEWEST_SECRETS: Statement = {
  text: `
    SELECT sealed_secret AS sealed FROM webhook_endpoints WHERE deleted_at IS NULL ORDER BY id DESC LIMIT $1`,
};

/** The next $3 endpoints whose deliveries are held for their secret, after the time $1 and the id $2, in the order of the index. */
export const UNREADABLE_ENDPOINTS: Statement = {
  name: 'unreadable-endpoints',
  text: `
  SELECT id, sealed_secret AS sealed, unreadable_since::text AS since FROM webhook_endpoints
  WHERE unreadable_since IS NOT NULL AND deleted_at IS NULL AND (unreadable_since, id) > ($1::timestamptz, $2::text)
  ORDER BY unreadable_since, id LIMIT $3`,
};
