import { modelColumns } from '../../db/model-columns.js';
import type { Statement } from '../../db/statement.js';
import { CheckoutSession } from '../../models/checkout-session.js';
import { SHOWN_SESSION_FIELDS } from '../../presenters/checkout-session.js';

export const SHOWN = modelColumns(CheckoutSession, 'session', SHOWN_SESSION_FIELDS);

export const EXPIRE_OVERDUE: Statement = {
  name: 'expire-overdue-sessions',
  text: `
  WITH overdue AS (
    SELECT id FROM checkout_sessions WHERE status = 'open' AND expires_at <= $1
    ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED
  )
  UPDATE checkout_sessions session SET status = $3
  WHERE id = ANY (ARRAY(SELECT id FROM overdue)) AND status = ANY($4)
  RETURNING ${SHOWN.sql}`,
};
