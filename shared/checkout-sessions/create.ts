import { type Principal, requireActiveKey } from '../accounts/api-keys.js';
import { type AnswerRendering, answerRow, IdempotencyKeyTaken } from '../accounts/idempotency.js';
import { Account } from '../accounts/model.js';
import type { AnswerRow } from '../accounts/statements/idempotency.sql.js';
import { type BatchedWrite, batchWrites } from '../db/batch-writes.js';
import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { Refusal } from '../errors/refusal.js';
import { SMALL_BODY_BYTES } from '../limits/bounds.js';
import { chooseExpiry, SESSION_LIFETIME } from '../payables/lifetime.js';
import { type LineItem, summarize, totalCents } from '../payables/line-items.js';
import { now } from '../process/clock.js';
import { SESSION_FIELDS, type StoredFields, TEXT_FIELDS } from '../session-fields/fields.js';
import { newId, sessionPrefix } from '../values/ids.js';
import { CheckoutSession } from './model.js';
import { INSERT } from './statements/create.sql.js';

export interface NewCheckoutSession extends Omit<StoredFields, 'expiresAt'> {
  items: Omit<LineItem, 'id'>[];
  expiresAtSeconds: number | undefined;
}

/**
 * One statement checks the key and the account's wallet, keeps the answer for the Idempotency-Key and inserts the session,
 * for a batch of sessions that are created at the same moment. The reason for a missing row is looked up afterwards.
 */
export async function createCheckoutSession(
  db: Knex,
  principal: Principal,
  input: NewCheckoutSession,
  { idempotent, render }: AnswerRendering<CheckoutSession>,
): Promise<string> {
  const session = newCheckoutSession(principal, input);
  const text = render(session);
  const answer = idempotent && answerRow(idempotent, text);
  // Each row is serialized by itself: a batch of large rows at once would block the event loop.
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

/** Small and large rows have separate batches, so that small ones do not wait for the long statements of large ones. */
async function insertSession(db: Knex, one: SessionToInsert): Promise<boolean> {
  return await (one.row.length > SMALL_BODY_BYTES ? insertLarge : insertSmall)(db, one);
}

const INSERTS: BatchedWrite<SessionToInsert, boolean> = {
  // A statement does not see the rows that it inserts, so requests with the same Idempotency-Key go into different ones.
  keyOf: ({ session, key }) =>
    key === undefined ? session.id : `${session.accountId} ${session.livemode} ${key}`,
  bytesOf: ({ row }) => row.length,
  writeBatch: insertSessions,
  async writeOne(db, one) {
    const [isInserted = false] = await insertSessions(db, [one]);
    return isInserted;
  },
};
const insertSmall = batchWrites(INSERTS);
const insertLarge = batchWrites(INSERTS);

async function insertSessions(db: Knex, all: readonly SessionToInsert[]): Promise<boolean[]> {
  const rows = `[${all.map(({ row }) => row).join()}]`;
  const inserted = await runStatement<{ id: string }>(db, INSERT, [rows]);
  const ids = new Set(inserted.map(({ id }) => id));
  return all.map(({ session }) => ids.has(session.id));
}

function rowOf(session: CheckoutSession, keyId: string, answer: AnswerRow | undefined): object {
  const row: Record<string, unknown> = {
    id: session.id,
    account_id: session.accountId,
    livemode: session.livemode,
    amount_total_cents: session.amountTotalCents,
    line_items: session.lineItems,
    summary: session.summary,
    api_key_id: keyId,
    ...answer,
  };
  for (const { name, property } of SESSION_FIELDS) row[name] = session[property];
  return row;
}

function newCheckoutSession(principal: Principal, input: NewCheckoutSession): CheckoutSession {
  const id = newId(sessionPrefix(principal.livemode));
  const session = new CheckoutSession();
  session.$set({
    id,
    accountId: principal.accountId,
    livemode: principal.livemode,
    status: 'open',
    amountTotalCents: totalCents(input.items),
    lineItems: input.items.map((item) => ({ id: newId('li_'), ...item })),
    summary: summarize(input.items),
    metadata: input.metadata,
    expiresAt: chooseExpiry(input.expiresAtSeconds, SESSION_LIFETIME, now()),
    paymentId: null,
  });
  for (const { property } of TEXT_FIELDS) session[property] = input[property];
  if (session.successUrl !== null) session.successUrl = fillSessionId(session.successUrl, id);
  return session;
}

async function whyNotCreated(db: Knex, principal: Principal): Promise<Error> {
  await requireActiveKey(db, principal);
  const account = await Account.query(db).findById(principal.accountId).throwIfNotFound();
  if (account.evmWallet === null && account.solanaWallet === null) {
    return new Refusal(
      'payout_wallet_missing',
      `This account has no payout wallet yet. Ask the operator of this service to set one: merchants update ${account.id} --evm 0x…, or --solana ….`,
    );
  }
  return new IdempotencyKeyTaken();
}

/** Clients may percent-encode the braces. */
function fillSessionId(url: string, sessionId: string): string {
  return url.replaceAll(/(?:\{|%7[Bb])CHECKOUT_SESSION_ID(?:\}|%7[Dd])/g, sessionId);
}
