import type { Knex } from '../../db/knex.js';
import { modelColumns, type Row } from '../../db/model-columns.js';
import { readTogether } from '../../db/read-together.js';
import { runStatement } from '../../db/statement.js';
import { Account } from '../../models/account.js';
import { CheckoutSession } from '../../models/checkout-session.js';
import { Payment } from '../../models/payment.js';
import { SHOWN_PAYMENT_FIELDS } from '../../presenters/payment.js';
import { DECIDED, PAYLOADS_USED } from './read-link.sql.js';

/** A session as its link sees it: with its merchant and the payment that holds or paid it. */
export type LinkedSession = CheckoutSession & { account: Account; payment: Payment | null };

const STATE_FIELDS = [
  'id',
  'accountId',
  'livemode',
  'status',
  'amountTotalCents',
  'expiresAt',
  'paymentId',
  'offeredFeePayers',
  'failureCode',
  'failureAt',
] as const satisfies (keyof CheckoutSession)[];

const account = modelColumns(Account, 'account', [
  'id',
  'name',
  'evmWallet',
  'solanaWallet',
  'logoUrl',
  'brandColor',
  'supportEmail',
]);

const payment = modelColumns(Payment, 'payment', [
  ...SHOWN_PAYMENT_FIELDS,
  'asset',
  'payloadKey',
  'identifier',
  'reportedTransaction',
  'failureCode',
]);

export const findLinkedSession = linkReader('link', [
  ...STATE_FIELDS,
  'lineItems',
  'successUrl',
  'cancelUrl',
]);

/** The same without what is paid for, which may be long: for those who ask again and again. */
export const findLinkState = linkReader('link_state', STATE_FIELDS);

function linkReader(
  name: string,
  fields: (keyof CheckoutSession)[],
): (db: Knex, id: string) => Promise<LinkedSession | undefined> {
  const session = modelColumns(CheckoutSession, 'session', fields);
  const statement = {
    name,
    text: `
      SELECT ${session.sql}, ${account.sql}, ${payment.sql}
      -- Looked up row by row (OFFSET 0 keeps it so): else a plan made while a table is small reads all of it ever after.
      FROM unnest($1::text[]) AS asked (id)
      CROSS JOIN LATERAL (SELECT * FROM checkout_sessions WHERE id = asked.id OFFSET 0) session
      CROSS JOIN LATERAL (SELECT * FROM accounts WHERE id = session.account_id OFFSET 0) account
      LEFT JOIN LATERAL (SELECT * FROM payments WHERE id = session.payment_id OFFSET 0) payment ON true`,
  };
  return readTogether(async (db, ids: readonly string[]) => {
    const rows = await runStatement<Row>(db, statement, [ids]);
    const found = new Map(rows.map((row) => [row['session.id'], row]));
    return ids.map((id) => {
      const row = found.get(id);
      return (
        row &&
        Object.assign(session.read(row), {
          account: account.read(row),
          payment: row['payment.id'] === null ? null : payment.read(row),
        })
      );
    });
  });
}

interface PayloadUse {
  payloadKey: string;
  sessionId: string;
}

const readPayloadUse = readTogether<PayloadUse, true>(async (db, uses) => {
  const keys = [uses.map(({ payloadKey }) => payloadKey), uses.map(({ sessionId }) => sessionId)];
  const used = new Set(
    (await runStatement<{ index: number }>(db, PAYLOADS_USED, keys)).map(({ index }) => index),
  );
  return uses.map((_, index) => (used.has(index) ? true : undefined));
});

/** Whether this payload counts for any payment already; one that was released may claim its own session again. */
export async function isPayloadUsed(db: Knex, payloadKey: string, sessionId: string): Promise<boolean> {
  return (await readPayloadUse(db, { payloadKey, sessionId })) ?? false;
}

export async function findPayment(db: Knex, id: string): Promise<Payment | undefined> {
  return await Payment.query(db).findById(id);
}

/** What the buyer has sent for this session under that name; not what surely never reached the facilitator. */
export async function findNamedPayment(
  db: Knex,
  sessionId: string,
  identifier: string,
): Promise<Payment | undefined> {
  const named = { checkoutSessionId: sessionId, identifier, payloadReleased: false };
  return await Payment.query(db).where(named).orderBy('id', 'desc').first();
}

/** Of these payments, those that are decided. */
export async function listDecided(db: Knex, ids: readonly string[]): Promise<string[]> {
  const rows = await runStatement<{ id: string }>(db, DECIDED, [ids]);
  return rows.map(({ id }) => id);
}
