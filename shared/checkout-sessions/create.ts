import { type Principal, requireKeyThatCounts } from '../accounts/api-keys.js';
import { type AnswerToKeep, answerToKeep, KeyTaken, type Reply } from '../accounts/idempotency.js';
import { Account } from '../accounts/model.js';
import { type BatchedWrite, batchWrites } from '../db/batch-writes.js';
import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { Refusal } from '../errors/refusal.js';
import { SMALL_BODY_BYTES } from '../limits/bounds.js';
import {
  chooseExpiry,
  fillSessionId,
  type LineItem,
  SESSION_LIFETIME,
  summarize,
  totalCents,
} from '../payables/states.js';
import { now } from '../process/clock.js';
import { newId, sessionPrefix } from '../values/ids.js';
import { CheckoutSession } from './model.js';
import { INSERT } from './statements/create.sql.js';

export interface NewCheckoutSession {
  items: Omit<LineItem, 'id'>[];
  metadata: Record<string, string>;
  successUrl: string | null;
  cancelUrl: string | null;
  clientReferenceId: string | null;
  customerEmail: string | null;
  expiresAtSeconds: number | undefined;
}

/**
 * One statement asks whether the key counts and the account has a wallet, keeps the answer and inserts the
 * session, for all who create one at the same moment. When it inserted nothing, the reason is looked up.
 */
export async function createCheckoutSession(
  db: Knex,
  principal: Principal,
  input: NewCheckoutSession,
  { idempotent, render }: Reply<CheckoutSession>,
): Promise<string> {
  const session = newCheckoutSession(principal, input);
  const text = render(session);
  const answer = idempotent && answerToKeep(idempotent, text);
  // Written as JSON by itself, so that those who go together need no long turn of the event loop.
  const row = JSON.stringify(rowOf(session, principal.keyId, answer));
  const isCreated = await insertSession(db, { session, key: answer?.key, row });
  if (isCreated) return text;
  throw await whyNotCreated(db, principal);
}

interface SessionToInsert {
  session: CheckoutSession;
  /** The idempotency key. */
  key: string | undefined;
  /** JSON. */
  row: string;
}

/** Small ones wait for no large ones. */
async function insertSession(db: Knex, one: SessionToInsert): Promise<boolean> {
  return await (one.row.length > SMALL_BODY_BYTES ? insertLarge : insertSmall)(db, one);
}

const INSERTS: BatchedWrite<SessionToInsert, boolean> = {
  // Of requests with one Idempotency-Key one is to find the other's answer, which a statement does not see of its own.
  keyOf: ({ session, key }) =>
    key === undefined ? session.id : `${session.accountId} ${session.livemode} ${key}`,
  bytesOf: ({ row }) => row.length,
  together: insertSessions,
  async alone(db, one) {
    const [isInserted = false] = await insertSessions(db, [one]);
    return isInserted;
  },
  unclear: (_db, _one, error) => Promise.reject(error),
};
const insertSmall = batchWrites(INSERTS);
const insertLarge = batchWrites(INSERTS);

async function insertSessions(db: Knex, all: readonly SessionToInsert[]): Promise<boolean[]> {
  const rows = `[${all.map(({ row }) => row).join()}]`;
  const inserted = await runStatement<{ id: string }>(db, INSERT, [rows]);
  const ids = new Set(inserted.map(({ id }) => id));
  return all.map(({ session }) => ids.has(session.id));
}

function rowOf(session: CheckoutSession, keyId: string, answer: AnswerToKeep | undefined): object {
  return {
    id: session.id,
    account_id: session.accountId,
    livemode: session.livemode,
    amount_total_cents: session.amountTotalCents,
    line_items: session.lineItems,
    summary: session.summary,
    metadata: session.metadata,
    success_url: session.successUrl,
    cancel_url: session.cancelUrl,
    client_reference_id: session.clientReferenceId,
    customer_email: session.customerEmail,
    expires_at: session.expiresAt,
    api_key_id: keyId,
    ...answer,
  };
}

function newCheckoutSession(principal: Principal, input: NewCheckoutSession): CheckoutSession {
  const id = newId(sessionPrefix(principal.livemode));
  const session = new CheckoutSession();
  return session.$set({
    id,
    accountId: principal.accountId,
    livemode: principal.livemode,
    status: 'open',
    amountTotalCents: totalCents(input.items),
    lineItems: input.items.map((item) => ({ id: newId('li_'), ...item })),
    summary: summarize(input.items),
    metadata: input.metadata,
    successUrl: input.successUrl === null ? null : fillSessionId(input.successUrl, id),
    cancelUrl: input.cancelUrl,
    clientReferenceId: input.clientReferenceId,
    customerEmail: input.customerEmail,
    expiresAt: chooseExpiry(input.expiresAtSeconds, SESSION_LIFETIME, now()),
    paymentId: null,
  });
}

async function whyNotCreated(db: Knex, principal: Principal): Promise<Error> {
  await requireKeyThatCounts(db, principal);
  const account = await Account.query(db).findById(principal.accountId).throwIfNotFound();
  if (account.evmWallet === null && account.solanaWallet === null) {
    return new Refusal(
      'payout_wallet_missing',
      'This account has no payout wallet yet. Set an EVM or a Solana wallet before you create checkout sessions.',
    );
  }
  return new KeyTaken();
}
