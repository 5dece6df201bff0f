import { createdMillisecondsSql } from '../../ids.js';

/** What of a session's presentation its own columns do not hold: as SQL that gives JSON. */
interface ShownState {
  status: string;
  paymentStatus: string;
  url: string;
  payment: string;
}

/**
 * The text of what `presentCheckoutSession` makes of the row `session`, byte for byte and without its line items, so that
 * an event is written without its session's passing through this process.
 */
export function sessionAsJson({ status, paymentStatus, url, payment }: ShownState): string {
  const fields: Record<string, string> = {
    id: quoted('session.id'),
    object: `'"checkout.session"'`,
    amount_subtotal: 'session.amount_total_cents',
    amount_total: 'session.amount_total_cents',
    cancel_url: nullable('session.cancel_url'),
    client_reference_id: nullable('session.client_reference_id'),
    created: `${createdMillisecondsSql('session.id')} / 1000`,
    currency: `'"usd"'`,
    customer_email: nullable('session.customer_email'),
    expires_at: 'floor(extract(epoch FROM session.expires_at))::bigint',
    livemode: `CASE WHEN session.livemode THEN 'true' ELSE 'false' END`,
    metadata: 'session.metadata::text',
    mode: `'"payment"'`,
    payment_method_types: `'["crypto"]'`,
    payment_status: quoted(paymentStatus),
    status: quoted(status),
    success_url: nullable('session.success_url'),
    url,
    payment,
  };
  const parts = Object.entries(fields).map(([name, value]) => `'"${name}":', ${value}`);
  return `concat('{', ${parts.join(`, ',', `)}, '}')::json`;
}

const quoted = (text: string): string => `to_json(${text}::text)::text`;
const nullable = (column: string): string => `coalesce(${quoted(column)}, 'null')`;

/** About as long as that text: what a row weighs in a batch. What is not compressed is not read for that. */
export const BYTES_OF_SESSION = `(1000
  + CASE WHEN pg_column_compression(session.metadata) IS NULL THEN pg_column_size(session.metadata)
    ELSE octet_length(session.metadata::text) END
  + coalesce(octet_length(session.success_url), 0) + coalesce(octet_length(session.cancel_url), 0))`;
