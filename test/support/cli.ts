import assert from 'node:assert/strict';
import { main } from '../../cli/merchants.js';

export interface Ran {
  status: number;
  stdout: string;
  stderr: string;
}

export async function runCommand(...argv: string[]): Promise<Ran> {
  const ran: Ran = { status: -1, stdout: '', stderr: '' };
  const set = process.env.CHECK_TOKEN_ACCOUNTS;
  // By default, no command reads a chain.
  process.env.CHECK_TOKEN_ACCOUNTS = set ?? 'false';
  ran.status = await main(argv, {
    stdout: { write: (text) => (ran.stdout += text) },
    stderr: { write: (text) => (ran.stderr += text) },
  });
  if (set === undefined) delete process.env.CHECK_TOKEN_ACCOUNTS;
  return ran;
}

interface PrintedAccount {
  id: string;
  payout_wallets: { evm: string | null; solana: string | null };
  logo_url: string | null;
  brand_color: string | null;
}

interface PrintedKey {
  id: string;
  object: string;
  name: string;
  livemode: boolean;
  secret: string;
  access: string;
  facilitator_key: string | null;
  revoked_at: number | null;
}

interface PrintedPayment {
  id: string;
  status: string;
  checkout_session?: string;
  /** Set when the payment is a refund's. */
  refund?: string;
  valid_until: number;
  history: unknown[];
  failure_code: string | null;
  stage: string | null;
}

interface PrintedRefund {
  id: string;
  status: string;
  amount: number;
  transaction: string | null;
}

interface PrintedAction {
  id: number;
  who: string;
  what: string;
  about: string | null;
  arguments: Record<string, string>;
  created: number;
}

interface ToOpen {
  token_accounts_to_open?: { open_token_account: string; token: string; network: string }[];
}

/** The fields of each command's `--json` output that tests read. */
interface Printed {
  create: { account: PrintedAccount; keys: { live: string; test: string } } & ToOpen;
  update: PrintedAccount;
  show: PrintedAccount & { keys: PrintedKey[] } & ToOpen;
  list: { accounts: PrintedAccount[] };
  'create-key': PrintedKey;
  'revoke-key': PrintedKey;
  'add-facilitator-key': { key_id: string };
  'remove-facilitator-key': { key_id: string; revoked?: PrintedKey[] };
  payments: { payments: PrintedPayment[] };
  'reconcile-restore': { payments: { id: string; checkout_session: string }[] };
  'show-payment': PrintedPayment & { refunds: PrintedRefund[] };
  'resolve-payment': PrintedPayment;
  'resend-event': { event: string; deliveries: { id: string; endpoint: string }[] };
  'rebuild-reports': { accounts: number; payments_read: number };
  'reseal-secrets': object;
  'erase-personal': { checkout_session: string; customer_email: null; erased: Record<string, number> };
  audit: { actions: PrintedAction[] };
}

export async function runJson<C extends keyof Printed>(command: C, ...argv: string[]): Promise<Printed[C]> {
  const { status, stdout, stderr } = await runCommand(command, ...argv, '--json');
  assert.equal(status, 0, stderr);
  assert.equal(stderr, '');
  return JSON.parse(stdout);
}

export async function assertRefused(words: RegExp, ...argv: string[]): Promise<void> {
  const { status, stdout, stderr } = await runCommand(...argv);
  assert.equal(status, 1);
  assert.equal(stdout, '');
  assert.match(stderr, words);
  assert.equal(stderr.trimEnd().split('\n').length, 1, 'the message is one line');
}
