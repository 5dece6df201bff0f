import { sessionCreatedMsSql } from '../../ids.js';

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
    cancel_url: textColumn('cancel_url'),
    client_reference_id: textColumn('client_reference_id'),
    created: sql(`${sessionCreatedMsSql('session.id')} / 1000`),
    currency: 'usd',
    customer_email: textColumn('customer_email'),
    expires_at: sql('floor(extract(epoch FROM session.expires_at))::bigint'),
    livemode: sql(`CASE WHEN session.livemode THEN 'true' ELSE 'false' END`),
    metadata: sql('session.metadata::text'),
    mode: 'payment',
    payment_method_types: ['crypto'],
    payment_status: paymentStatus,
    status,
    success_url: textColumn('success_url'),
    url: null,
    payment: payment === null ? null : sql(payment),
  });
}

interface Sql {
  sql: string;
}

const sql = (text: string): Sql => ({ sql: text });
const textColumn = (name: string): Sql =>
  sql(`CASE WHEN session.${name} IS NULL THEN 'null' ELSE to_json(session.${name})::text END`);

/** What is constant between two columns is one constant. */
function asJson(fields: Record<string, Sql | string | string[] | null>): string {
  const parts: string[] = [];
  let constant = '{';
  for (const [name, value] of Object.entries(fields)) {
    constant += `${constant.endsWith('{') ? '' : ','}${JSON.stringify(name)}:`;
    if (value === null || typeof value === 'string' || Array.isArray(value)) {
      constant += JSON.stringify(value);
      continue;
    }
    parts.push(`'${constant}'`, value.sql);
    constant = '';
  }
  return `concat(${parts.join(', ')}, '${constant}}')::json`;
}

/** About as long as that text: what a row weighs in a batch. What is not compressed is not read for that. */
export const BYTES_OF_SESSION = `(1000
  + CASE WHEN pg_column_compression(session.metadata) IS NULL THEN pg_column_size(session.metadata)
    ELSE octet_length(session.metadata::text) END
  + coalesce(octet_length(session.success_url), 0) + coalesce(octet_length(session.cancel_url), 0))`;
