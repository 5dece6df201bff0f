import type { Statement } from '../../db/statement.js';
import { subscribesTo } from './events.sql.js';

/** Joins the endpoints of the account $1 in the mode $2 that get the events of this type now. */
const joinReceivers = (type: string): string => `
  JOIN webhook_endpoints endpoint ON account_id = $1 AND livemode = $2 AND ${subscribesTo(type, 'endpoint')}`;

const OWN = 'id = $3 AND account_id = $1 AND livemode = $2';

/** How many deliveries a request writes that sends the event $3 again. */
export const RESEND_SIZE: Statement = {
  name: 'fan-out-of-resend',
  text: `
  SELECT count(*)::int AS size FROM (SELECT type FROM events WHERE ${OWN}) event ${joinReceivers('event.type')}`,
};

/** How many deliveries it writes to expire the open session, or cancel the open refund, $3, with an event of type $4. */
export const EXPIRY_SIZE: Statement = {
  name: 'fan-out-of-expiry',
  text: `
  SELECT count(*)::int AS size FROM (SELECT FROM payables WHERE ${OWN} AND status = 'open') payable ${joinReceivers('$4')}`,
};

/** How many deliveries it writes to refund the payment $3, with an event of type $4. */
export const REFUND_SIZE: Statement = {
  name: 'fan-out-of-refund',
  text: `
  SELECT count(*)::int AS size FROM (SELECT FROM payments WHERE ${OWN} AND status = 'succeeded') payment ${joinReceivers('$4')}`,
};

/** The pending deliveries of the account $1, counted up to $2. */
export const COUNT_PENDING: Statement = {
  name: 'count-pending-deliveries',
  text: `
  SELECT count(*)::int AS pending FROM (
    SELECT FROM webhook_endpoints endpoint
    CROSS JOIN LATERAL (
      SELECT FROM webhook_deliveries WHERE endpoint_id = endpoint.id AND status = 'pending' LIMIT $2
    ) delivery
    WHERE endpoint.account_id = $1 AND endpoint.deleted_at IS NULL LIMIT $2
  ) counted`,
};
