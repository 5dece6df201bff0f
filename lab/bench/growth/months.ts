import type { Knex } from '../../../shared/db/knex.js';
import { nowMs } from '../../../shared/process/clock.js';
import { makeMonthsAhead } from '../../../shared/schema/by-month.js';
import { GROWING_TABLES, type Month, monthAt, monthsAfter, startOf } from '../../../shared/values/months.js';
import { BIG_ACCOUNT } from './seed.js';

/** Years of business in narrow rows, evenly over the months before this one: of each twenty sessions one is paid. */
export interface MonthsCounts {
  months: number;
  sessions: number;
}

const PAID_EVERY = 20;
const ACCOUNTS = 1000;

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const TIME = [7, 6, 5, 4, 3, 2, 1, 0].map(
  (power) => `substr('${DIGITS}', 1 + CAST(mod(ms / ${62 ** power}, 62) AS int), 1)`,
);
const FUNCTIONS = `
  CREATE OR REPLACE FUNCTION months_id(prefix text, ms bigint, n bigint) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT prefix || ${TIME.join(' || ')} || '000' || lpad(to_hex(n), 17, '0') $$`;
const ACCOUNTS_AND_ENDPOINTS = `
  INSERT INTO accounts (id, name, evm_wallet)
  SELECT id, id, '0x209693Bc6afc0C5328bA36FaF03C514EF312287C'
  FROM (SELECT CASE n WHEN 1 THEN '${BIG_ACCOUNT}' ELSE 'acct_months' || n END AS id FROM generate_series(1, ${ACCOUNTS}) n) ids;
  INSERT INTO webhook_endpoints (id, account_id, livemode, url, enabled_events, status, sealed_secret)
  SELECT 'we_months' || n, CASE n WHEN 1 THEN '${BIG_ACCOUNT}' ELSE 'acct_months' || n END, false, 'https://shop' || n || '.example/',
    '{*}', 'enabled', 'none' FROM generate_series(1, ${ACCOUNTS}) n`;
/** Every fifth row is the big account's. */
const WHOSE = `CASE WHEN mod(n, 5) = 0 OR mod(n, ${ACCOUNTS}) < 2 THEN '${BIG_ACCOUNT}' ELSE 'acct_months' || mod(n, ${ACCOUNTS}) END`;
const ENDPOINT = `CASE WHEN mod(n, 5) = 0 OR mod(n, ${ACCOUNTS}) < 2 THEN 'we_months1' ELSE 'we_months' || mod(n, ${ACCOUNTS}) END`;
const ROWS = 'generate_series(CAST(:from AS bigint), CAST(:to AS bigint)) n';
const MS = 'CAST(:startMs + (n - :from) * :stepMs AS bigint)';
const SESSION = `months_id('cs_test_', ${MS}, n)`;

const FILL = [
  `INSERT INTO payables (id, account_id, livemode, status, amount_total_cents, line_items, summary, metadata, expires_at, payment_id)
   SELECT ${SESSION}, ${WHOSE}, false, CASE WHEN mod(n, ${PAID_EVERY}) = 0 THEN 'complete' ELSE 'expired' END, 450, '[]', '{}', '{}',
     to_timestamp(${MS} / 1000.0), CASE WHEN mod(n, ${PAID_EVERY}) = 0 THEN months_id('pay_', ${MS} + 1, n) END FROM ${ROWS}`,
  `INSERT INTO payments (id, checkout_session_id, account_id, livemode, status, amount_cents, token, token_amount, token_decimals,
     network, pay_to, channel, asset, payload_key, requirements, payload, valid_until, claimed_at, settled_at)
   SELECT months_id('pay_', ${MS} + 1, n), ${SESSION}, ${WHOSE}, false, 'succeeded', 450, 'USDC', 4500000, 6, 'eip155:84532', '0x2', 'x402',
     '0x0', 'months:' || n, '{}', '{}', now(), now(), to_timestamp(${MS} / 1000.0) FROM ${ROWS} WHERE mod(n, ${PAID_EVERY}) = 0`,
  `INSERT INTO events (id, account_id, livemode, type, checkout_session_id, object)
   SELECT months_id('evt_', ${MS} + 2, n), ${WHOSE}, false, 'checkout.session.completed', ${SESSION}, '{}'
   FROM ${ROWS} WHERE mod(n, ${PAID_EVERY}) = 0`,
  `INSERT INTO webhook_deliveries (id, event_id, endpoint_id, status, answers_removed)
   SELECT months_id('wd_', ${MS} + 2, n), months_id('evt_', ${MS} + 2, n), ${ENDPOINT}, 'succeeded', true
   FROM ${ROWS} WHERE mod(n, ${PAID_EVERY}) = 0`,
];

/** By a connection that checks no foreign keys. The oldest month is given back. */
export async function seedMonths(
  db: Knex,
  { months, sessions }: MonthsCounts,
  tell: (line: string) => void = () => {},
): Promise<Month> {
  const newest = monthsAfter(monthAt(nowMs()), -1);
  const oldest = monthsAfter(newest, 1 - months);
  await makeMonthsAhead(db, { from: oldest, ahead: months });
  await db.raw(FUNCTIONS);
  await db.raw(ACCOUNTS_AND_ENDPOINTS);
  const each = Math.floor(sessions / months);
  for (let n = 0; n < months; n += 1) {
    const startMs = startOf(monthsAfter(oldest, n));
    const stepMs = Math.floor((startOf(monthsAfter(oldest, n + 1)) - startMs) / (each + 1));
    for (const statement of FILL)
      await db.raw(statement, { from: n * each + 1, to: (n + 1) * each, startMs, stepMs });
    tell(`${monthsAfter(oldest, n)}: ${(n + 1) * each} sessions`);
  }
  await db.raw(`INSERT INTO payment_marks (payment_id, checkout_session_id, payload_key, payload_released, network)
    SELECT id, checkout_session_id, payload_key, false, network FROM payments
    WHERE EXISTS (SELECT FROM pg_class WHERE oid = 'payments'::regclass AND relkind = 'p')`);
  await db.raw('DROP FUNCTION months_id');
  for (const table of GROWING_TABLES) await db.raw(`ANALYZE ${table}`);
  return oldest;
}
