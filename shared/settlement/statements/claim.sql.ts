import { expectsOneRow } from '../../db/planner-hints.js';
import { PAYABLE_MOVES } from '../../payables/states.js';

/**
 * The commit does not wait for the disk. A claim alone only notifies a worker: before `/settle`, and before a buyer gets a
 * 202, the payment is written again by a commit that waits, and a durable commit makes earlier commits durable. So a
 * Postgres that crashes may lose a claim, and then no money can move.
 */
export const CLAIM_BATCH = {
  name: 'claim_together',
  text: claimStatement('FOR NO KEY UPDATE SKIP LOCKED', "id, set_config('synchronous_commit', 'off', true)"),
};

export const CLAIM_ALONE = { name: 'claim_alone', text: claimStatement('FOR NO KEY UPDATE', 'id') };

function claimStatement(lock: string, returned: string): string {
  const { to } = PAYABLE_MOVES.claim;
  return `
    WITH claim AS MATERIALIZED (
      SELECT *
      FROM json_to_recordset($1) AS claim (id text, payable_id text, claimed_at timestamptz, token text,
        token_amount numeric, token_decimals smallint, network text, asset text, payer text, pay_to text, channel text,
        payload_key text, identifier text, requirements json, payload json, valid_until timestamptz, trace text, stage text,
        facilitator text, arrived_at timestamptz)
      WHERE ${expectsOneRow('claim.id')}
    ), free AS MATERIALIZED (
      SELECT claim.id AS claim_id, session.id
      FROM claim CROSS JOIN LATERAL (
        SELECT id FROM payables
        WHERE id = claim.payable_id AND status = ANY ($2) AND expires_at > claim.claimed_at
          AND NOT EXISTS (
            SELECT FROM payment_uses
            WHERE payload_key = claim.payload_key
              AND (NOT payload_released OR payable_id <> claim.payable_id)
          )
          AND (claim.identifier IS NULL OR NOT EXISTS (
            SELECT FROM payment_uses
            WHERE payable_id = claim.payable_id AND identifier = claim.identifier
              AND payload_key <> claim.payload_key AND NOT payload_released
          ))
        ${lock}
      ) session
    ), claimed AS (
      UPDATE payables session
      SET status = '${to}', payment_id = free.claim_id, failure_code = NULL, failure_at = NULL
      FROM free
      WHERE session.id = free.id AND session.status = ANY ($2)
      RETURNING session.id, session.account_id, session.livemode, session.amount_total_cents, session.payment_id
    )
    INSERT INTO payments (id, payable_id, account_id, livemode, status, amount_cents, token, token_amount,
      token_decimals, network, asset, payer, pay_to, channel, payload_key, identifier, requirements, payload,
      valid_until, claimed_at, trace, facilitator, arrived_at, stage, settle_unclear, due_at)
    SELECT claim.id, claimed.id, account_id, livemode, 'processing', amount_total_cents, token, token_amount,
      token_decimals, network, asset, payer, pay_to, channel, payload_key, identifier, requirements, payload,
      valid_until, claimed_at, trace, facilitator, arrived_at, claim.stage,
      -- A call that Postgres has forgotten sent what the chain shows: no later refusal says that it did not.
      claim.stage = 'confirm', claimed_at
    FROM claimed JOIN claim ON claim.id = claimed.payment_id
    RETURNING ${returned}`;
}
