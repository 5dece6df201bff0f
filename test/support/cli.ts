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
  disabled_at: number | null;
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
  suspended: boolean;
}

interface PrintedDelivery {
  id: string;
  status: string;
  webhook_endpoint: string;
}

interface PrintedEvent {
  id: string;
  type: string;
  deliveries: PrintedDelivery[];
}

interface PrintedEndpoint {
  id: string;
  account: string;
  status: string;
  failing_since: number | null;
  last_try?: { status: number | null; error: string | null };
}

/** The fields of an answer of `show` that tests read. */
interface PrintedObject {
  id: string;
  object: string;
  account: PrintedAccount;
  payments: PrintedPayment[];
  refunds: PrintedRefund[];
  events: PrintedEvent[];
  deliveries: PrintedDelivery[];
  checkout_sessions: { id: string; account: string }[];
  accounts: PrintedAccount[];
}

interface PrintedTotals {
  date: string;
  account: string;
  livemode: boolean;
  token: string;
  network: string;
  payments: number;
  amount: number;
  surplus: number;
  refunds: number;
  refunded: number;
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
  'disable-account': PrintedAccount;
  'enable-account': PrintedAccount;
  'revoke-keys': { account: string; revoked: PrintedKey[] };
  endpoints: { endpoints: PrintedEndpoint[] };
  'disable-endpoint': PrintedEndpoint;
  'enable-endpoint': PrintedEndpoint;
  'resend-events': { events: number; deliveries: number };
  totals: { totals: PrintedTotals[] };
}

/** `show` prints each kind of object in its own form. */
export async function showJson(subject: string): Promise<PrintedObject> {
  const { status, stdout, stderr } = await runCommand('show', subject, '--json');
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout);
}

export async function runJson<C extends keyof Printed>(command: C, ...argv: string[]): Promise<Printed[C]> {
  const { status, stdout, stderr } = await runCommand(command, ...argv, '--json');
  assert.equal(status, 0, stderr);
  // The database's name, and log lines.
  assert.match(stderr, /^Database: [^\n]+\n(\{.*\}\n)*$/);
  return JSON.parse(stdout);
}

/** Returns standard error without the line that names the database. A command line that makes no sense reaches none. */
export function saidBy({ stderr }: Pick<Ran, 'stderr'>): string {
  return stderr.replace(/^Database: .+\n/, '');
}

export async function assertRefused(words: RegExp, ...argv: string[]): Promise<void> {
  const ran = await runCommand(...argv);
  assert.equal(ran.status, 1);
  assert.equal(ran.stdout, '');
  assert.match(saidBy(ran), words);
  assert.equal(saidBy(ran).trimEnd().split('\n').length, 1, 'the message is one line');
}
