export interface Found {
  kind: 'session' | 'payment' | 'account';
  id: string;
}

interface Search {
  /** Whether the text can be what this search looks for. */
  isFor(text: string): boolean;
  /** Selects `Found` for the text $1, at most $2 of each account and mode, and of all. */
  sql: string;
}

const EMAIL = /^[^\s@]+@[^\s@]+$/;
const TRANSACTION = /^(0x[0-9a-f]{64}|[1-9A-HJ-NP-Za-km-z]{64,90})$/i;
const WALLET = /^(0x[0-9a-f]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$/i;

/** The indexes begin with account and mode, since merchants' own lists use them; accounts are few, compared with payments. */
function inEveryAccount(kind: Found['kind'], from: string, condition: string): string {
  return `
    SELECT '${kind}' AS kind, found.id
    FROM accounts account CROSS JOIN (VALUES (true), (false)) AS mode (livemode)
    CROSS JOIN LATERAL (
      SELECT id FROM ${from}
      WHERE account_id = account.id AND livemode = mode.livemode AND ${condition}
      ORDER BY id DESC LIMIT $2
    ) found
    ORDER BY found.id DESC LIMIT $2`;
}

const BY_TRANSACTION = "status = 'succeeded' AND lower(left(transaction, 128)) = lower(left($1, 128))";
const BY_PAYER = "status = 'succeeded' AND lower(left(payer, 128)) = lower(left($1, 128))";

export const SEARCHES = {
  reference: {
    isFor: () => true,
    sql: inEveryAccount('session', 'payables', 'client_reference_id = $1'),
  },
  email: {
    isFor: (text) => EMAIL.test(text),
    sql: inEveryAccount('session', 'payables', 'customer_email = $1'),
  },
  transaction: {
    isFor: (text) => TRANSACTION.test(text),
    sql: inEveryAccount('payment', 'payments', BY_TRANSACTION),
  },
  payer: { isFor: (text) => WALLET.test(text), sql: inEveryAccount('payment', 'payments', BY_PAYER) },
  /** The wallets that an account has, or has had. Hex digits of a stored address may be in either case. */
  receiver: {
    isFor: (text) => WALLET.test(text),
    sql: `
      SELECT 'account' AS kind, account.id
      FROM accounts account
      WHERE EXISTS (
        SELECT FROM payout_wallets
        WHERE account_id = account.id AND (wallet = $1 OR (wallet LIKE '0x%' AND lower(wallet) = lower($1)))
      )
      ORDER BY account.id LIMIT $2`,
  },
} as const satisfies Record<string, Search>;
