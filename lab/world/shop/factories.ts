import { randomBytes } from 'node:crypto';
import { type AccountDetails, createAccount } from '../../../shared/accounts/accounts.js';
import { createApiKey, type NewApiKey, revokeApiKey } from '../../../shared/accounts/api-keys.js';
import type { KeyAccess } from '../../../shared/accounts/model.js';
import { CheckoutSession } from '../../../shared/checkout-sessions/model.js';
import type { Knex } from '../../../shared/db/knex.js';
import { summarize } from '../../../shared/payables/line-items.js';
import { Payable } from '../../../shared/payables/model.js';
import { Payment } from '../../../shared/payments/model.js';
import { refundTerms } from '../../../shared/refunds/terms.js';
import { newId, sessionPrefix } from '../../../shared/values/ids.js';
import { Event, WebhookEndpoint } from '../../../shared/webhooks/model.js';

export const EVM_WALLET = '0x209693Bc6afc0C5328bA36FaF03C514EF312287C';
export const SOLANA_WALLET = '9B5XszUGdMaxCZ7uSQhPzdks5ZQSmWxrmzCSvtJ6Ns6g';
/** An IP address, so that no test queries a name server. Nothing is ever sent to it. */
export const HOOK_URL = 'https://1.1.1.1/hooks';

export interface Merchant {
  accountId: string;
  liveKey: string;
  testKey: string;
}

/** An account with both wallets and a key for each mode. */
export async function buildMerchant(db: Knex, details: Partial<AccountDetails> = {}): Promise<Merchant> {
  const account = await createAccount(db, {
    name: 'Cafe Pocket',
    evmWallet: EVM_WALLET,
    solanaWallet: SOLANA_WALLET,
    logoUrl: null,
    brandColor: null,
    supportEmail: null,
    ...details,
  });
  const [live, test] = await Promise.all([
    createApiKey(db, { accountId: account.id, livemode: true, name: 'Live' }),
    createApiKey(db, { accountId: account.id, livemode: false, name: 'Test' }),
  ]);
  return { accountId: account.id, liveKey: live.secret, testKey: test.secret };
}

/** A key of test mode with full access, unless `details` say otherwise. */
export async function buildKey(
  db: Knex,
  accountId: string,
  details: { livemode?: boolean; name?: string; access?: KeyAccess } = {},
): Promise<NewApiKey> {
  return await createApiKey(db, { accountId, livemode: false, name: 'Till', ...details });
}

/** The secret of a key that was revoked after `use`. */
export async function buildRevokedKey(
  db: Knex,
  accountId: string,
  use: (secret: string) => PromiseLike<unknown> = async () => {},
): Promise<string> {
  const { key, secret } = await buildKey(db, accountId);
  await use(secret);
  await revokeApiKey(db, key.id);
  return secret;
}

export async function buildSession(
  db: Knex,
  accountId: string,
  overrides: Partial<CheckoutSession> = {},
): Promise<CheckoutSession> {
  return await CheckoutSession.query(db).insert(newSession(accountId, overrides)).returning('*');
}

export async function buildSessions(
  db: Knex,
  accountId: string,
  count: number,
  overrides: Partial<CheckoutSession> = {},
): Promise<CheckoutSession[]> {
  const rows = Array.from({ length: count }, () => newSession(accountId, overrides));
  return await CheckoutSession.query(db).insert(rows).returning('*');
}

function newSession(accountId: string, overrides: Partial<CheckoutSession>): Partial<CheckoutSession> {
  const livemode = overrides.livemode ?? false;
  const session: Partial<CheckoutSession> = {
    id: newId(sessionPrefix(livemode)),
    accountId,
    livemode,
    status: 'open',
    amountTotalCents: 450,
    lineItems: [
      {
        id: newId('li_'),
        name: 'Coffee',
        description: null,
        images: [],
        unitAmountCents: 450,
        quantity: 1,
      },
    ],
    metadata: {},
    successUrl: null,
    cancelUrl: null,
    clientReferenceId: null,
    customerEmail: null,
    expiresAt: new Date(Date.now() + 3_600_000),
    paymentId: null,
    ...overrides,
  };
  return { summary: summarize(session.lineItems ?? []), ...session };
}

/** A succeeded payment of a complete session, as a settlement writes them. */
export async function buildPaidSession(
  db: Knex,
  accountId: string,
  overrides: Partial<Payment> = {},
): Promise<{ session: CheckoutSession; payment: Payment }> {
  const livemode = overrides.livemode ?? false;
  const open = await buildSession(db, accountId, { livemode });
  return await holdByPayment(db, open, 'complete', {
    status: 'succeeded',
    // A transaction pays once, also in a database that spec files share.
    transaction: `0x${randomBytes(32).toString('hex')}`,
    settledAt: new Date(),
    payload: {},
    validUntil: new Date(),
    ...overrides,
  });
}

/** A refund of the whole amount of a new payment, as its creation writes it. */
export async function buildRefund(
  db: Knex,
  accountId: string,
  overrides: Partial<Payable> = {},
  paid: Partial<Payment> = {},
): Promise<Payable> {
  const { payment } = await buildPaidSession(db, accountId, paid);
  const { id: refundedPaymentId, payer, livemode } = payment;
  const amountTotalCents = overrides.amountTotalCents ?? payment.amountCents;
  const terms = { payTo: payer ?? '', reason: null, reference: null };
  const row: Partial<Payable> = {
    id: newId('re_'),
    accountId,
    livemode,
    status: 'open',
    amountTotalCents,
    lineItems: [],
    summary: summarize([]),
    metadata: {},
    expiresAt: new Date(Date.now() + 3_600_000),
    refundedPaymentId,
    refund: refundTerms(payment, amountTotalCents, terms),
    ...overrides,
  };
  return await Payable.query(db).insert(row).returning('*');
}

/** A payment that holds its session and whose outcome is open: it was sent to the facilitator a while ago. */
export async function buildUndecidedPayment(
  db: Knex,
  accountId: string,
  overrides: Partial<Payment> = {},
): Promise<{ session: CheckoutSession; payment: Payment }> {
  const open = await buildSession(db, accountId);
  return await holdByPayment(db, open, 'processing', {
    status: 'processing',
    transaction: null,
    settledAt: null,
    payload: { signature: 'secret-signature' },
    validUntil: new Date(Date.now() + 300_000),
    stage: 'confirm',
    dueAt: new Date(Date.now() + 3_600_000),
    attempt: 1,
    settleCalls: 1,
    settleAskedAt: new Date(),
    ...overrides,
  });
}

async function holdByPayment(
  db: Knex,
  open: CheckoutSession,
  status: CheckoutSession['status'],
  row: Partial<Payment>,
): Promise<{ session: CheckoutSession; payment: Payment }> {
  const payment = await Payment.query(db)
    .insert({
      id: newId('pay_'),
      payableId: open.id,
      accountId: open.accountId,
      livemode: open.livemode,
      amountCents: open.amountTotalCents,
      token: 'USDC',
      tokenAmount: '4500000',
      tokenDecimals: 6,
      network: 'eip155:84532',
      payer: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
      payTo: EVM_WALLET,
      channel: 'x402',
      asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
      payloadKey: newId('pay_'),
      requirements: {},
      claimedAt: new Date(),
      ...row,
    })
    .returning('*');
  const session = await CheckoutSession.query(db).patchAndFetchById(open.id, {
    status,
    paymentId: payment.id,
  });
  return { session, payment };
}

/** A `checkout.session.completed` event for `object`. */
export async function buildEvent(db: Knex, accountId: string, object: { id: string }): Promise<string> {
  const [id = ''] = await buildEvents(db, accountId, object, 1);
  return id;
}

/** Returns their ids, oldest first. */
export async function buildEvents(
  db: Knex,
  accountId: string,
  object: { id: string },
  count: number,
): Promise<string[]> {
  const event = { accountId, livemode: false, payableId: object.id, object };
  const type = 'checkout.session.completed' as const;
  const rows = Array.from({ length: count }, () => ({ ...event, id: newId('evt_'), type }));
  await Event.query(db).insert(rows);
  return rows.map(({ id }) => id);
}

/** Endpoints enabled for all events; returns their ids, oldest first. */
export async function buildEndpoints(
  db: Knex,
  accountId: string,
  count: number,
  overrides: Partial<WebhookEndpoint> | ((index: number) => Partial<WebhookEndpoint>) = {},
): Promise<string[]> {
  const rows = Array.from({ length: count }, (_, index) => ({
    id: newId('we_'),
    accountId,
    livemode: false,
    url: HOOK_URL,
    enabledEvents: ['*' as const],
    status: 'enabled' as const,
    description: null,
    sealedSecret: 'none',
    deletedAt: null,
    ...(typeof overrides === 'function' ? overrides(index) : overrides),
  }));
  await WebhookEndpoint.query(db).insert(rows);
  return rows.map(({ id }) => id);
}
