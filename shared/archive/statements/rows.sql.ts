import type { Statement } from '../../db/statement.js';
import type { GrowingTable } from '../../values/months.js';

/** Of one statement: rows, and bytes of their text. */
const MOST = 200;
const MOST_BYTES = 4_000_000;

/** A row on one line, as it is: JSON columns keep the order of their members. */
const LINE = `translate(row_to_json(row)::text, E'\\n\\r', '  ')`;

/** Payables with ids from $1, and before $2: as many as fit into `MOST_BYTES`, and one in any case. */
export const NEXT_PAYABLES: Statement = {
  name: 'archive payables',
  text: `
    SELECT id, line FROM (
      SELECT id, line, sum(octet_length(line)) OVER (ORDER BY id) - octet_length(line) AS before FROM (
        SELECT id, ${LINE} AS line FROM payables row WHERE id >= $1 AND id < $2 ORDER BY id LIMIT ${MOST}
      ) read
    ) weighed WHERE before < ${MOST_BYTES} ORDER BY id`,
};

const OF: Readonly<Partial<Record<GrowingTable, string>>> = {
  payments: 'checkout_session_id',
  events: 'checkout_session_id',
  webhook_deliveries: 'event_id',
};

/** What belongs to the rows $1: the payments and events of payables, the deliveries of events. */
export function belongingTo(table: GrowingTable): Statement {
  return {
    name: `archive ${table} of`,
    text: `SELECT id, ${LINE} AS line FROM ${table} row WHERE ${OF[table]} = ANY ($1::text[]) ORDER BY id`,
  };
}

/** Nothing that refers to it may be left behind. */
const UNLESS: Readonly<Record<GrowingTable, string>> = {
  payables: `NOT EXISTS (SELECT FROM payments WHERE checkout_session_id = row.id)
    AND NOT EXISTS (SELECT FROM events WHERE checkout_session_id = row.id)`,
  payments: `NOT EXISTS (SELECT FROM payables
    WHERE refunded_payment_id = row.id AND status IN ('open', 'processing'))`,
  events: 'NOT EXISTS (SELECT FROM webhook_deliveries WHERE event_id = row.id)',
  webhook_deliveries: 'true',
};

const MARK =
  'checkout_session_id, payload_key, payload_released, identifier, network, transaction, proof_index';

/** Of the rows $1 those that still are what the lines $2 say, to the letter; a payment leaves its mark. */
export function removeOf(table: GrowingTable): Statement {
  const marks = `, marked AS (
      INSERT INTO payment_marks (payment_id, ${MARK}) SELECT id, ${MARK} FROM removed ON CONFLICT DO NOTHING
    )`;
  return {
    name: `archive remove ${table}`,
    text: `
      WITH removed AS (
        DELETE FROM ${table} row USING unnest($1::text[], $2::text[]) AS archived (archived_id, line)
        WHERE row.id = ANY ($1::text[]) AND row.id = archived_id AND ${LINE} = line AND ${UNLESS[table]}
        RETURNING row.*
      )${table === 'payments' ? marks : ''}
      SELECT count(*)::int AS count FROM removed`,
  };
}
