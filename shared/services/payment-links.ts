import { raw } from 'objection';
import type { Knex } from '../db/knex.js';
import type { Account } from '../models/account.js';
import { CheckoutSession } from '../models/checkout-session.js';
import { Payment } from '../models/payment.js';

/** A session as its link sees it: with its merchant and the payment that holds or paid it. */
export type LinkedSession = CheckoutSession & { account: Account; payment: Payment | null };

export async function findLinkedSession(db: Knex, id: string): Promise<LinkedSession | undefined> {
  const session = await CheckoutSession.query(db).findById(id).withGraphJoined('[account, payment]');
  return session as LinkedSession | undefined;
}

const STATE_COLUMNS: (keyof CheckoutSession)[] = [
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
];

/** The same without what is paid for, which may be long: for those who ask again and again. */
export async function findLinkState(db: Knex, id: string): Promise<LinkedSession | undefined> {
  const session = await CheckoutSession.query(db)
    .select(STATE_COLUMNS.map((column) => `checkout_sessions.${column}`))
    .findById(id)
    .withGraphJoined('[account, payment]');
  return session as LinkedSession | undefined;
}

/** Remembered, so that a buyer may still pay what was offered after the facilitator has changed its fee payers. */
export async function rememberOfferedFeePayers(
  db: Knex,
  id: string,
  feePayers: readonly string[],
): Promise<void> {
  // Each once, also when many ask at the same time: the row's lock makes the later ones see the earlier.
  const added = raw(
    `coalesce(offered_fee_payers, '{}') ||
     ARRAY (SELECT unnest(?::text[]) EXCEPT SELECT unnest(coalesce(offered_fee_payers, '{}')))`,
    [[...feePayers]],
  );
  await CheckoutSession.query(db).patch({ offeredFeePayers: added }).where('id', id);
}

/** Whether this payload counts for any payment already; one that was released may claim its own session again. */
export async function isPayloadUsed(db: Knex, payloadKey: string, sessionId: string): Promise<boolean> {
  const used = await Payment.query(db)
    .select('id')
    .where({ payloadKey })
    .where((either) => either.where('payloadReleased', false).orWhereNot('checkoutSessionId', sessionId))
    .first();
  return used !== undefined;
}

export async function findPayment(db: Knex, id: string): Promise<Payment | undefined> {
  return await Payment.query(db).findById(id);
}

/** Of these payments, those that are decided. */
export async function listDecided(db: Knex, ids: readonly string[]): Promise<string[]> {
  const rows = await Payment.query(db)
    .select('id')
    .whereRaw('id = ANY (?)', [[...ids]])
    .whereNot('status', 'processing');
  return rows.map(({ id }) => id);
}

/** The buyer is told 202: how it ends will be told to a later GET. False when it is decided by now. */
export async function markAnsweredProcessing(db: Knex, paymentId: string): Promise<boolean> {
  const marked = await Payment.query(db)
    .patch({ answeredProcessing: true })
    .where({ id: paymentId, status: 'processing' });
  return marked === 1;
}
