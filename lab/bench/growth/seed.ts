import type { Knex } from '../../../shared/db/knex.js';
import { nowMs } from '../../../shared/process/clock.js';

/**
 * Fills a migrated database with a year of data by a few set-based statements: sessions, of which every fifth is paid,
 * with its payment, event and deliveries. Ids have the service's format and sort by time. A few sessions are open, and
 * a few payments and deliveries unfinished, none of them due within a day.
 */
export interface Counts {
  accounts: number;
  sessions: number;
  /** At most one payment per session. */
  payments: number;
  /** Two deliveries per payment event, one for each endpoint of its account. */
  deliveries: number;
  idempotencyRecords: number;
}

export const A_YEAR_OF_BUSINESS: Counts = {
  accounts: 2000,
  sessions: 5_000_000,
  payments: 1_000_000,
  deliveries: 2_000_000,
  idempotencyRecords: 200_000,
};

/** The account that owns a fifth of all rows, in test mode: the one to measure. */
export const BIG_ACCOUNT = 'acct_growth000001';

const YEAR_MS = 365 * 24 * 3_600_000;
/** Rows per statement. Each statement commits on its own and reports a line. */
const BATCH = 250_000;
const OPEN_EVERY = 500;

type Report = (line: string) => void;

/** Seeds on two connections at the same time with `other`, a connection without foreign key checks. */
export async function seedDatabase(
  db: Knex,
  counts: Counts,
  report: Report = () => {},
  other: Knex | undefined = undefined,
): Promise<void> {
  const startMs = nowMs() - YEAR_MS - 3_600_000;
  const bindings = {
    ...counts,
    startMs,
    stepMs: YEAR_MS / counts.sessions,
    paidEvery: Math.max(1, Math.floor(counts.sessions / counts.payments)),
    openEvery: OPEN_EVERY,
    bigAccount: BIG_ACCOUNT,
  };
  await db.raw(FUNCTIONS);
  await db.raw(ACCOUNTS, bindings);
  await db.raw(ENDPOINTS, bindings);
  const fill = async (what: string, rows: number, statement: string, by = db): Promise<void> => {
    for (let from = 0; from < rows; from += BATCH) {
      const to = Math.min(rows, from + BATCH) - 1;
      await by.raw(statement, { ...bindings, from, to });
      report(`${what}: ${to + 1} of ${rows}`);
    }
  };
  const sessions = fill('sessions', counts.sessions, SESSIONS);
  if (other === undefined) await sessions;
  await fill('payments', counts.payments, PAYMENTS, other);
  await fill('events', counts.payments, EVENTS, other);
  await fill('deliveries', counts.deliveries, DELIVERIES, other);
  await fill('idempotency records', counts.idempotencyRecords, IDEMPOTENCY_RECORDS, other);
  await sessions;
  await db.raw(`DROP FUNCTION ${NAMES.join(', ')}`);
  // Autovacuum has done the same in production.
  await db.raw('VACUUM (ANALYZE)');
}

const NAMES = [
  'growth_id(text, bigint, bigint)',
  'growth_account(bigint)',
  'growth_endpoint(text, integer)',
  'growth_session_ms(bigint, float8, float8)',
];

/** An id with this time: 8 digits of milliseconds, a counter, and a unique suffix. */
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const digit = (power: number): string =>
  `substr('${DIGITS}', 1 + CAST(mod(ms / ${62 ** power}, 62) AS int), 1)`;
const TIME = [7, 6, 5, 4, 3, 2, 1, 0].map(digit).join(' || ');

const FUNCTIONS = `
  CREATE OR REPLACE FUNCTION growth_id(prefix text, ms bigint, n bigint) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT prefix || ${TIME} || '000' || lpad(to_hex(n), 17, '0') $$;
  -- Every fifth row is the big account's, the others are spread.
  CREATE OR REPLACE FUNCTION growth_account(n bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN mod(n / 5, 5) = 0 THEN 1 ELSE n / 5 END $$;
  CREATE OR REPLACE FUNCTION growth_endpoint(account text, which integer) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT 'we_' || substr(account, 6) || which $$;
  CREATE OR REPLACE FUNCTION growth_session_ms(n bigint, start float8, step float8) RETURNS bigint
    LANGUAGE sql IMMUTABLE AS $$ SELECT CAST(floor(start + n * step) AS bigint) $$;`;

const accountId = (n: string): string =>
  `'acct_growth' || lpad(CAST(1 + mod(${n} - 1, :accounts) AS text), 6, '0')`;
const accountOf = (n: string): string => accountId(`greatest(1, growth_account(${n}))`);
const sessionMs = (n: string): string => `growth_session_ms(${n}, :startMs, :stepMs)`;
const sessionId = (n: string): string => `growth_id('cs_test_', ${sessionMs(n)}, ${n})`;
const paymentId = (n: string): string => `growth_id('pay_', ${sessionMs(n)} + 1, ${n})`;
const eventId = (n: string): string => `growth_id('evt_', ${sessionMs(n)} + 2, ${n})`;
const at = (ms: string): string => `to_timestamp((${ms}) / 1000.0)`;
/** The paid sessions of a batch. */
const PAID = `(SELECT i * CAST(:paidEvery AS bigint) AS n, i FROM generate_series(CAST(:from AS bigint), :to) i) paid`;

const ACCOUNTS = `
  INSERT INTO accounts (id, name, evm_wallet, solana_wallet)
  SELECT ${accountId('n')}, 'Merchant ' || n, '0x209693Bc6afc0C5328bA36FaF03C514EF312287C',
    '9B5XszUGdMaxCZ7uSQhPzdks5ZQSmWxrmzCSvtJ6Ns6g'
  FROM generate_series(1, CAST(:accounts AS bigint)) n`;

/** The sealed secrets cannot be opened; no delivery is due. */
const ENDPOINTS = `
  INSERT INTO webhook_endpoints (id, account_id, livemode, url, enabled_events, status, sealed_secret)
  SELECT growth_endpoint(${accountId('n')}, which), ${accountId('n')}, false, 'https://shop.example/' || which,
    '{*}', 'disabled', 'none'
  FROM generate_series(1, CAST(:accounts AS bigint)) n, generate_series(1, 2) which`;

const SESSIONS = `
  INSERT INTO checkout_sessions (id, account_id, livemode, status, amount_total_cents, line_items, summary,
    metadata, success_url, client_reference_id, customer_email, expires_at, payment_id)
  SELECT ${sessionId('n')}, ${accountOf('n')}, false,
    CASE WHEN is_paid THEN 'complete' WHEN is_open THEN 'open' ELSE 'expired' END,
    450 + mod(n, 100),
    CAST('[{"id":"li_' || lpad(to_hex(n), 28, '0') || '","name":"Coffee and a croissant","description":"Freshly made",'
      || '"images":["https://img.example/coffee.png"],"unitAmountCents":' || 450 + mod(n, 100) || ',"quantity":1}]'
      AS json),
    '{"name":"Coffee and a croissant","quantity":1,"others":0,"characters":67}',
    CAST('{"order":"' || n || '","channel":"web"}' AS json),
    'https://shop.example/thanks/' || n, 'order-' || n, 'buyer' || n || '@mail.example',
    CASE WHEN is_open AND NOT is_paid THEN now() + interval '1 day' + mod(n, 3600) * interval '1 s'
      ELSE ${at(`${sessionMs('n')} + 86400000`)} END,
    CASE WHEN is_paid THEN ${paymentId('n')} END
  FROM (
    SELECT n, mod(n, :paidEvery) = 0 AND n / :paidEvery < :payments AS is_paid, mod(n, :openEvery) = 1 AS is_open
    FROM generate_series(CAST(:from AS bigint), :to) n
  ) numbered`;

const PAYMENTS = `
  INSERT INTO payments (id, payable_id, account_id, livemode, status, amount_cents, token, token_amount,
    token_decimals, network, payer, pay_to, channel, transaction, settled_at, asset, payload_key, requirements,
    payload, valid_until, claimed_at, attempt, settle_calls, history)
  SELECT ${paymentId('n')}, ${sessionId('n')}, ${accountOf('n')}, false, 'succeeded', 450 + mod(n, 100), 'USDC',
    4500000, 6, 'eip155:84532', '0x' || lpad(to_hex(n), 40, '0'), '0x209693Bc6afc0C5328bA36FaF03C514EF312287C',
    'x402', '0x' || md5(n::text) || md5((-n)::text), ${at(`${sessionMs('n')} + 3`)},
    '0x036CbD53842c5426634e7929541eC2318f3dCF7e', 'eip155:84532:growth:' || n,
    CAST('{"scheme":"exact","network":"eip155:84532","amount":"4500000"}' AS json),
    CAST('{"signature":"0x' || repeat(md5(n::text), 4) || '","authorization":{"nonce":"0x' || md5(n::text) || '"}}'
      AS json),
    ${at(`${sessionMs('n')} + 300000`)}, ${at(`${sessionMs('n')} + 1`)}, 1, 1,
    '[{"at":"2026-01-01T00:00:00.000Z","source":"facilitator","said":"settled"}]'
  FROM ${PAID}`;

const EVENTS = `
  INSERT INTO events (id, account_id, livemode, type, payable_id, object)
  SELECT ${eventId('n')}, ${accountOf('n')}, false, 'checkout.session.completed', ${sessionId('n')},
    CAST('{"id":"' || ${sessionId('n')} || '","object":"checkout.session","status":"complete","filler":"'
      || repeat('x', 600) || '"}' AS json)
  FROM ${PAID}`;

/** A thousandth of the deliveries waits for its next attempt, tomorrow; as many are held. */
const DELIVERIES = `
  INSERT INTO webhook_deliveries (id, event_id, endpoint_id, status, due_at, attempt, tries, history, answers_removed)
  SELECT growth_id('wd_', ${sessionMs('n')} + 2, i), ${eventId('n')},
    growth_endpoint(${accountOf('n')}, 1 + CAST(mod(i, 2) AS int)),
    CASE WHEN mod(i, 1000) < 2 THEN 'pending' ELSE 'succeeded' END,
    CASE WHEN mod(i, 1000) = 0 THEN now() + interval '1 day' END, 1, 1,
    '[{"at":"2026-01-01T00:00:00.000Z","durationMs":35,"status":200,"answer":null,"error":null}]',
    n < :sessions * 0.9
  FROM (
    SELECT i, mod(i / 2, :payments) * CAST(:paidEvery AS bigint) AS n
    FROM generate_series(CAST(:from AS bigint), :to) i
  ) numbered`;

const IDEMPOTENCY_RECORDS = `
  INSERT INTO idempotency_records (account_id, livemode, key, path, fingerprint, answer, sealed, created_at)
  SELECT ${accountOf('n')}, false, 'growth-' || n, '/v1/checkout/sessions', sha256(CAST(n::text AS bytea)),
    '{"id":"' || n || '","filler":"' || repeat('x', 500) || '"}', false,
    now() - interval '1 day' * n / :idempotencyRecords
  FROM generate_series(CAST(:from AS bigint), :to) n`;
