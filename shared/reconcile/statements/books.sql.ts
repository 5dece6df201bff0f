import type { Statement } from '../../db/statement.js';

/** The payment of each payload in $1: the succeeded payment first, then a payment that reached the facilitator. */
export const PAYMENTS_OF_PAYLOADS: Statement = {
  name: 'payments_of_payloads',
  text: `
    SELECT asked.payload_key AS "payloadKey", payment.id, payment.payable_id AS "payableId",
      payment.account_id AS "accountId", payment.status, payment.transaction, payment.asset, payment.pay_to AS "payTo",
      payment.token_amount::text AS "tokenAmount"
    FROM unnest($1::text[]) AS asked (payload_key)
    CROSS JOIN LATERAL (
      SELECT * FROM payments WHERE payload_key = asked.payload_key
      ORDER BY (status = 'succeeded') DESC, payload_released, id DESC
      LIMIT 1
    ) payment`,
};

/** The archived payments of the payloads in $1. */
export const MARKS_OF_PAYLOADS: Statement = {
  name: 'marks_of_payloads',
  text: `
    SELECT payload_key AS "payloadKey", payment_id AS id, payable_id AS "payableId", transaction
    FROM payment_marks WHERE payload_key = ANY ($1) AND NOT payload_released`,
};

/** The sessions and refunds in $1, with every wallet that their accounts have had. */
export const BOOKED_PAYABLES: Statement = {
  name: 'booked_payables',
  text: `
    SELECT payable.id, payable.account_id AS "accountId", payable.livemode, payable.amount_total_cents AS "amountCents",
      payable.refund,
      ARRAY (SELECT wallet FROM payout_wallets WHERE account_id = payable.account_id) AS wallets
    FROM unnest($1::text[]) AS asked (id)
    CROSS JOIN LATERAL (SELECT * FROM payables WHERE id = asked.id OFFSET 0) payable`,
};
