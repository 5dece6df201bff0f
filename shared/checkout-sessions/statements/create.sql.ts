import { ANSWER_COLUMNS, keepAnswers } from '../../accounts/idempotency.js';

export const INSERT = {
  name: 'create_sessions',
  // Keys and accounts are looked up row by row: the planner takes the rows for a hundred, and would read whole tables.
  text: `
    WITH asked AS (
      SELECT * FROM json_to_recordset($1) AS asked (id text, account_id text, livemode boolean,
        amount_total_cents bigint, line_items json, summary json, metadata json, success_url text, cancel_url text,
        client_reference_id text, customer_email text, expires_at timestamptz, api_key_id text, ${ANSWER_COLUMNS})
    ), allowed AS (
      SELECT * FROM asked
      WHERE (SELECT revoked_at IS NULL FROM api_keys WHERE id = asked.api_key_id)
        AND (SELECT evm_wallet IS NOT NULL OR solana_wallet IS NOT NULL FROM accounts WHERE id = asked.account_id)
    ), kept AS (${keepAnswers('allowed')})
    INSERT INTO checkout_sessions (id, account_id, livemode, status, amount_total_cents, line_items, summary, metadata,
      success_url, cancel_url, client_reference_id, customer_email, expires_at)
    SELECT id, account_id, livemode, 'open', amount_total_cents, line_items, summary, metadata, success_url,
      cancel_url, client_reference_id, customer_email, expires_at
    FROM allowed
    WHERE key IS NULL OR (account_id, livemode, key) IN (SELECT account_id, livemode, key FROM kept)
    RETURNING id`,
};
