import type { Knex } from '../../../shared/db/knex.js';
import { newId } from '../../../shared/values/ids.js';

const TOKENS = ['USDC', 'USDT'];

/** Fills an account with paid sessions of different amounts, by two statements. */
export async function buildManyPayments(db: Knex, accountId: string, count: number): Promise<void> {
  const rows = Array.from({ length: count }, (_, index) => ({
    session: newId('cs_test_'),
    payment: newId('pay_'),
    cents: 100 + (index % 900),
    token: TOKENS[index % TOKENS.length],
  }));
  await db.raw(
    `INSERT INTO payables (id, account_id, livemode, status, amount_total_cents, line_items, summary, metadata,
       expires_at, client_reference_id, payment_id)
     SELECT row->>'session', :accountId, false, 'complete', CAST(row->>'cents' AS bigint), '[]',
       '{"name":"Coffee","quantity":1,"others":0,"characters":10}', '{}', now() + interval '1 hour',
       'order-' || n, row->>'payment'
     FROM json_array_elements(CAST(:rows AS json)) WITH ORDINALITY AS given (row, n)`,
    { accountId, rows: JSON.stringify(rows) },
  );
  await db.raw(
    `INSERT INTO payments (id, payable_id, account_id, livemode, status, amount_cents, token, token_amount,
       token_decimals, network, payer, pay_to, channel, transaction, settled_at, asset, payload_key, requirements,
       payload, valid_until, claimed_at)
     SELECT row->>'payment', row->>'session', :accountId, false, 'succeeded', CAST(row->>'cents' AS bigint),
       row->>'token', 4500000, 6, 'eip155:84532', '0x' || lpad(n::text, 40, '0'), '0x209693', 'x402',
       '0x' || lpad(n::text, 64, '0'), now(), '0x036C', row->>'payment', '{}', '{}', now(), now()
     FROM json_array_elements(CAST(:rows AS json)) WITH ORDINALITY AS given (row, n)`,
    { accountId, rows: JSON.stringify(rows) },
  );
}
