import { ANSWER_COLUMNS, insertAnswers } from '../../accounts/statements/idempotency.sql.js';
import { type FieldType, SESSION_FIELDS } from '../../session-fields/fields.js';

const POSTGRES_TYPES: Record<FieldType, string> = { text: 'text', metadata: 'json', time: 'timestamptz' };
const FIELDS = SESSION_FIELDS.map(({ name }) => name).join(', ');
const TYPED_FIELDS = SESSION_FIELDS.map(({ name, type }) => `${name} ${POSTGRES_TYPES[type]}`).join(', ');

export const INSERT = {
  name: 'create_sessions',
  // Subqueries look up keys and accounts row by row. For a join the planner, which expects a hundred rows, scans whole tables.
  text: `
    WITH requested AS (
      SELECT * FROM json_to_recordset($1) AS requested (id text, account_id text, livemode boolean,
        amount_total_cents bigint, line_items json, summary json, ${TYPED_FIELDS}, api_key_id text, ${ANSWER_COLUMNS})
    ), allowed AS (
      SELECT * FROM requested
      WHERE (SELECT revoked_at IS NULL FROM api_keys WHERE id = requested.api_key_id)
        AND (SELECT evm_wallet IS NOT NULL OR solana_wallet IS NOT NULL FROM accounts WHERE id = requested.account_id)
    ), kept AS (${insertAnswers('allowed')})
    INSERT INTO checkout_sessions (id, account_id, livemode, status, amount_total_cents, line_items, summary,
      ${FIELDS})
    SELECT id, account_id, livemode, 'open', amount_total_cents, line_items, summary, ${FIELDS}
    FROM allowed
    WHERE key IS NULL OR (account_id, livemode, key) IN (SELECT account_id, livemode, key FROM kept)
    RETURNING id`,
};
