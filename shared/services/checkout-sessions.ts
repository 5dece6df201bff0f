import type { QueryBuilder } from 'objection';
import { now } from '../clock.js';
import type { Knex } from '../db/knex.js';
import { type Page, type PageRequest, readPage } from '../db/page.js';
import {
  chooseExpiry,
  fillSessionId,
  type LineItem,
  SESSION_MOVES,
  type SessionStatus,
  totalCents,
} from '../domain/checkout-session.js';
import { noSuch, Refusal } from '../domain/errors.js';
import { newId, sessionPrefix } from '../ids.js';
import { Account } from '../models/account.js';
import { CheckoutSession } from '../models/checkout-session.js';
import { KEY_COUNTS, type Principal, requireKeyThatCounts, whereKeyCounts } from './api-keys.js';
import { type EventDeps, recordEvents } from './events.js';
import {
  answer,
  KEEP_ANSWER,
  KeyTaken,
  keepAnswerBindings,
  type Reply,
  UNLESS_TAKEN,
} from './idempotency.js';

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
 * session. When it inserted nothing, the reason is looked up.
 */
export async function createCheckoutSession(
  db: Knex,
  principal: Principal,
  input: NewCheckoutSession,
  reply: Reply<CheckoutSession>,
): Promise<string> {
  const session = newCheckoutSession(principal, input);
  const text = reply.render(session);
  const statement = reply.idempotent === undefined ? insertSession('allowed') : INSERT_AND_KEEP_ANSWER;
  const { rowCount } = await db.raw(statement, {
    ...(reply.idempotent && keepAnswerBindings(reply.idempotent, text, false)),
    id: session.id,
    account_id: session.accountId,
    livemode: session.livemode,
    amount_total_cents: session.amountTotalCents,
    line_items: JSON.stringify(session.lineItems),
    metadata: JSON.stringify(session.metadata),
    success_url: session.successUrl,
    cancel_url: session.cancelUrl,
    client_reference_id: session.clientReferenceId,
    customer_email: session.customerEmail,
    expires_at: session.expiresAt,
    key_id: principal.keyId,
  });
  if (rowCount === 0) throw await whyNotCreated(db, principal);
  return text;
}

function insertSession(source: 'allowed' | 'kept', keepAnswer = ''): string {
  return `
    WITH allowed AS (
      SELECT 1 FROM accounts
      WHERE id = :account_id AND (evm_wallet IS NOT NULL OR solana_wallet IS NOT NULL)
        AND ${KEY_COUNTS.replace('?', ':key_id')}
    )${keepAnswer}
    INSERT INTO checkout_sessions (id, account_id, livemode, status, amount_total_cents, line_items, metadata,
      success_url, cancel_url, client_reference_id, customer_email, expires_at)
    SELECT :id, :account_id, :livemode, 'open', :amount_total_cents, :line_items, :metadata,
      :success_url, :cancel_url, :client_reference_id, :customer_email, :expires_at
    FROM ${source}`;
}

const INSERT_AND_KEEP_ANSWER = insertSession(
  'kept',
  `, kept AS (${KEEP_ANSWER} FROM allowed ${UNLESS_TAKEN})`,
);

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
    metadata: input.metadata,
    successUrl: input.successUrl === null ? null : fillSessionId(input.successUrl, id),
    cancelUrl: input.cancelUrl,
    clientReferenceId: input.clientReferenceId,
    customerEmail: input.customerEmail,
    expiresAt: chooseExpiry(input.expiresAtSeconds, now()),
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

export interface SessionRead {
  lineItems: boolean;
}

export async function getCheckoutSession(
  db: Knex,
  principal: Principal,
  id: string,
  read: SessionRead,
): Promise<CheckoutSession> {
  const query = ownSessions(db, principal, read).where('checkout_sessions.id', id).first();
  const session = await whereKeyCounts(query, principal);
  if (session === undefined) throw await whyNoSession(db, principal, id);
  return session;
}

export interface SessionFilter {
  status: SessionStatus | undefined;
  /** Ids from here on, and below there: `created` filters, since an id holds its time. */
  lowestId: string | undefined;
  belowId: string | undefined;
}

export async function listCheckoutSessions(
  db: Knex,
  principal: Principal,
  page: PageRequest,
  filter: SessionFilter,
  read: SessionRead,
): Promise<Page<CheckoutSession>> {
  const query = whereKeyCounts(ownSessions(db, principal, read), principal);
  if (filter.status !== undefined) query.where('checkout_sessions.status', filter.status);
  if (filter.lowestId !== undefined) query.where('checkout_sessions.id', '>=', filter.lowestId);
  if (filter.belowId !== undefined) query.where('checkout_sessions.id', '<', filter.belowId);
  const all = CheckoutSession.query(db).where({
    accountId: principal.accountId,
    livemode: principal.livemode,
  });
  return await readPage({
    query,
    all,
    what: 'checkout session',
    page,
    whenEmpty: () => requireKeyThatCounts(db, principal),
  });
}

function ownSessions(
  db: Knex,
  principal: Principal,
  read: SessionRead,
): QueryBuilder<CheckoutSession, CheckoutSession[]> {
  return CheckoutSession.query(db)
    .select(read.lineItems ? [...COLUMNS, 'checkout_sessions.line_items'] : COLUMNS)
    .withGraphJoined('payment')
    .where({
      'checkout_sessions.account_id': principal.accountId,
      'checkout_sessions.livemode': principal.livemode,
    });
}

const COLUMNS = [
  'id',
  'account_id',
  'livemode',
  'status',
  'amount_total_cents',
  'metadata',
  'success_url',
  'cancel_url',
  'client_reference_id',
  'customer_email',
  'expires_at',
  'payment_id',
].map((column) => `checkout_sessions.${column}`);

async function whyNoSession(db: Knex, principal: Principal, id: string): Promise<Refusal> {
  await requireKeyThatCounts(db, principal);
  const other = await CheckoutSession.query(db)
    .findById(id)
    .where({ accountId: principal.accountId, livemode: !principal.livemode })
    .select('id');
  if (other === undefined) return noSuch('checkout session', id);
  const [exists, used] = principal.livemode ? ['test', 'live'] : ['live', 'test'];
  return new Refusal(
    'resource_missing',
    `No such checkout session: '${id}'. It exists in ${exists} mode, but you used a ${used} mode key.`,
    { param: 'id' },
  );
}

export async function expireCheckoutSession(
  db: Knex,
  principal: Principal,
  id: string,
  events: EventDeps,
  reply: Reply<CheckoutSession>,
): Promise<string> {
  return await db.transaction(async (trx) => {
    const query = expire(trx).where({ id, accountId: principal.accountId, livemode: principal.livemode });
    const [session] = await whereKeyCounts(query, principal);
    if (session === undefined) throw await whyNotExpired(trx, principal, id);
    await recordEvents(trx, 'checkout.session.expired', [session], events);
    return await answer(trx, reply, session);
  });
}

async function whyNotExpired(trx: Knex.Transaction, principal: Principal, id: string): Promise<Refusal> {
  const session = await getCheckoutSession(trx, principal, id, { lineItems: false });
  return new Refusal(
    'checkout_session_not_open',
    `Only a checkout session with status open can be expired; this one is ${session.status}.`,
    { param: 'id' },
  );
}

/** Expires up to `limit` overdue sessions with their events; any number of workers may do so at once. */
export async function expireOverdueSessions(db: Knex, limit: number, events: EventDeps): Promise<number> {
  return await db.transaction(async (trx) => {
    const overdue = CheckoutSession.query(trx)
      .select('id')
      .where('status', 'open')
      .where('expiresAt', '<=', now())
      .orderBy('expiresAt')
      .limit(limit)
      .forUpdate()
      .skipLocked();
    const sessions = await expire(trx).whereIn('id', overdue);
    if (sessions.length > 0) await recordEvents(trx, 'checkout.session.expired', sessions, events);
    return sessions.length;
  });
}

export async function hasOverdueSessions(db: Knex): Promise<boolean> {
  const overdue = CheckoutSession.query(db)
    .select('id')
    .where('status', 'open')
    .where('expiresAt', '<=', now());
  return (await overdue.first()) !== undefined;
}

function expire(trx: Knex.Transaction): QueryBuilder<CheckoutSession, CheckoutSession[]> {
  const { from, to } = SESSION_MOVES.expire;
  return CheckoutSession.query(trx).patch({ status: to }).whereIn('status', from).returning('*');
}
