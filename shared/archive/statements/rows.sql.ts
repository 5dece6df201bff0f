import type { Statement } from '../../db/statement.js';
import type { GrowingTable } from '../../values/months.js';

/** Limits of one statement. */
const MAX_ROWS = 200;
const MAX_BYTES = 4_000_000;

/** A row as JSON on one line. `json` columns keep the order of their members. */
const LINE = `translate(row_to_json(row)::text, E'\\n\\r', '  ')`;

/** Payables with ids from $1 and below $2: as many as fit into MAX_BYTES, at least one. */
export const NEXT_PAYABLES: Statement = {
  name: 'archive payables',
  text: `
    SELECT id, line FROM (
      SELECT id, line, sum(octet_length(line)) OVER (ORDER BY id) - octet_length(line) AS before FROM (
        SELECT id, ${LINE} AS line FROM payables row WHERE id >= $1 AND id < $2 ORDER BY id LIMIT ${MAX_ROWS}
      ) read
    ) summed WHERE before < ${MAX_BYTES} ORDER BY id`,
};

const PARENT_COLUMNS: Readonly<Partial<Record<GrowingTable, string>>> = {
  payments: 'payable_id',
  events: 'payable_id',
  webhook_deliveries: 'event_id',
};

/** Payments and events of the payables $1, or deliveries of the events $1. */
export function belongingTo(table: GrowingTable): Statement {
  return {
    name: `archive ${table} of`,
    text: `SELECT id, ${LINE} AS line FROM ${table} row WHERE ${PARENT_COLUMNS[table]} = ANY ($1::text[]) ORDER BY id`,
  };
}

/**
 * A row is deleted only when no remaining row needs it: a payment's amount bounds its refunds, a canceled one included whose
 * money may come late, and all of them are summed for as long as the payment can be refunded.
 */
const UNREFERENCED: Readonly<Record<GrowingTable, string>> = {
  payables: `NOT EXISTS (SELECT FROM payments WHERE payable_id = row.id)
    AND NOT EXISTS (SELECT FROM events WHERE payable_id = row.id)
    AND NOT EXISTS (SELECT FROM payments WHERE id = row.refunded_payment_id)`,
  payments: `NOT EXISTS (SELECT FROM payables refund
    WHERE refund.refunded_payment_id = row.id AND (
      refund.status IN ('open', 'processing')
      OR refund.status = 'expired' AND EXISTS (
        SELECT FROM payments late WHERE late.payable_id = refund.id AND late.due_at IS NOT NULL
      )
    ))`,
  events: 'NOT EXISTS (SELECT FROM webhook_deliveries WHERE event_id = row.id)',
  webhook_deliveries: 'true',
};

const MARK_COLUMNS =
  'payable_id, payload_key, payload_released, identifier, network, transaction, proof_index';

/** Waits for the transactions that hold a row of $1, such as that of a refund of a payment. */
export function lockAll(table: GrowingTable): Statement {
  return {
    name: `archive lock ${table}`,
    text: `SELECT FROM ${table} WHERE id = ANY ($1::text[]) ORDER BY id FOR UPDATE`,
  };
}

/**
 * Deletes the rows $1 whose text still equals the lines $2, and counts the rows that stay. A deleted payment leaves a row in
 * `payment_marks`.
 */
export function removeOf(table: GrowingTable): Statement {
  const marks = `, marked AS (
      INSERT INTO payment_marks (payment_id, ${MARK_COLUMNS}) SELECT id, ${MARK_COLUMNS} FROM removed ON CONFLICT DO NOTHING
    )`;
  return {
    name: `archive remove ${table}`,
    text: `
      WITH removed AS (
        DELETE FROM ${table} row USING unnest($1::text[], $2::text[]) AS archived (archived_id, line)
        WHERE row.id = ANY ($1::text[]) AND row.id = archived_id AND ${LINE} = line AND ${UNREFERENCED[table]}
        RETURNING row.*
      )${table === 'payments' ? marks : ''}
      SELECT count(*)::int AS removed,
        (SELECT count(*)::int FROM ${table} WHERE id = ANY ($1::text[])) - count(*)::int AS left
      FROM removed`,
  };
}
