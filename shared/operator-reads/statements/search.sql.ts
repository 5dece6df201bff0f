import { looksLikeTransaction, looksLikeWallet } from '../../chains/networks/text-forms.js';
import { alike } from '../../db/listing.js';

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

/** Payments in any status. The few that have not succeeded have an index of all accounts. */
function paymentsBy(column: 'transaction' | 'payer'): string {
  const matches = `${alike(column)} = ${alike('$1')}`;
  return `
    (${inEveryAccount('payment', 'payments', `status = 'succeeded' AND ${matches}`)})
    UNION ALL
    (SELECT 'payment', id FROM payments
      WHERE status <> 'succeeded' AND ${column} IS NOT NULL AND ${matches}
      ORDER BY id DESC LIMIT $2)`;
}

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
    isFor: looksLikeTransaction,
    sql: paymentsBy('transaction'),
  },
  payer: { isFor: looksLikeWallet, sql: paymentsBy('payer') },
  /** The wallets that an account has, or has had. Hex digits of a stored address may be in either case. */
  receiver: {
    isFor: looksLikeWallet,
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
