import { asJson, booleanColumn, secondsColumn, sql, textColumn } from '../../db/json-text.js';
import { createdMsSql } from '../../values/ids.js';

/** What of a session's presentation its own columns do not hold. `payment` is SQL that gives JSON. */
interface ShownState {
  status: string;
  paymentStatus: string;
  payment: string | null;
}

/**
 * The text of what `presentCheckoutSession` makes of the row `session`, byte for byte and without link and line items, so
 * that an event is written without its session's passing through this process.
 */
export function sessionAsJson({ status, paymentStatus, payment }: ShownState): string {
  return asJson({
    id: sql(`'"' || session.id || '"'`),
    object: 'checkout.session',
    amount_subtotal: sql('session.amount_total_cents'),
    amount_total: sql('session.amount_total_cents'),
    cancel_url: textColumn('session.cancel_url'),
    client_reference_id: textColumn('session.client_reference_id'),
    created: sql(`${createdMsSql('session.id', 'cs_live_')} / 1000`),
    currency: 'usd',
    customer_email: textColumn('session.customer_email'),
    expires_at: secondsColumn('session.expires_at'),
    livemode: booleanColumn('session.livemode'),
    metadata: sql('session.metadata::text'),
    mode: 'payment',
    payment_method_types: ['crypto'],
    payment_status: paymentStatus,
    status,
    success_url: textColumn('session.success_url'),
    url: null,
    payment: payment === null ? null : sql(payment),
  });
}

/** About as long as that text: what a row weighs in a batch. What is not compressed is not read for that. */
export const BYTES_OF_SESSION = `(1000
  + CASE WHEN pg_column_compression(session.metadata) IS NULL THEN pg_column_size(session.metadata)
    ELSE octet_length(session.metadata::text) END
  + coalesce(octet_length(session.success_url), 0) + coalesce(octet_length(session.cancel_url), 0))`;
