/** OFFSET 0 makes Postgres look up row by row, also by a plan that was made while the table was small. */
export const PAYLOADS_USED = {
  name: 'payloads_used',
  text: `
    SELECT asked.n - 1 AS index
    FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS asked (payload_key, session_id, n)
    WHERE EXISTS (
      SELECT FROM payment_uses
      WHERE payload_key = asked.payload_key AND (NOT payload_released OR payable_id <> asked.session_id)
      OFFSET 0
    )`,
};

export const DECIDED = {
  name: 'decided',
  text: `
    SELECT payment.id
    FROM unnest($1::text[]) AS asked (id)
    CROSS JOIN LATERAL (SELECT id FROM payments WHERE id = asked.id AND status <> 'processing' OFFSET 0) payment`,
};
