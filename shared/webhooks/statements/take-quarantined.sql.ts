import type { Statement } from '../../db/statement.js';
import { QUARANTINE_AFTER_CRASHES } from '../../limits/bounds.js';
import { hostOf, sealedSecrets, TAKE_FITTING, TAKEN_COLUMNS } from './take-due.sql.js';

const APART = `lost_takes >= ${QUARANTINE_AFTER_CRASHES}`;

/** What fewest died with comes first. */
export const DUE_QUARANTINED: Statement = {
  name: 'deliveries-due-apart',
  text: `
  SELECT id, lost_takes AS deaths FROM webhook_deliveries
  WHERE ${APART} AND due_at IS NOT NULL AND due_at <= $1 ORDER BY lost_takes, due_at LIMIT $2`,
};

export const LOCK_ENDPOINT_OF: Statement = {
  name: 'lock-endpoint-of-delivery',
  text: `
  SELECT endpoint.id, endpoint.account_id AS "accountId", endpoint.url, ${hostOf('endpoint.url')} AS host,
    ${sealedSecrets('$2::timestamptz')} AS "sealedSecrets", endpoint.failing_since AS "failingSince", endpoint.places AS slots,
    endpoint.status, endpoint.deleted_at AS "deletedAt"
  FROM webhook_endpoints endpoint
  WHERE endpoint.id = (SELECT endpoint_id FROM webhook_deliveries WHERE id = $1)
  FOR NO KEY UPDATE OF endpoint`,
};

/** At $1, until $2. */
export const TAKE_QUARANTINED: Statement = {
  name: 'take-delivery-apart',
  text: `
  WITH fitting AS (
    SELECT id FROM webhook_deliveries WHERE id = $3 AND ${APART} AND due_at <= $1 FOR NO KEY UPDATE SKIP LOCKED
  ), ${TAKE_FITTING}
  SELECT ${TAKEN_COLUMNS} FROM taken`,
};
