import { batchReads } from '../db/batch-reads.js';
import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { requireFound } from '../errors/refusal.js';
import { Payment } from './model.js';
import { SHOWN_PAYMENT_FIELDS } from './present.js';
import { DECIDED, PAYLOADS_USED } from './statements/find.sql.js';
import { OUTCOME_UNKNOWN } from './states.js';

/** Reads of any account's payments, for workers, links and operators; `read.ts` has the reads of a merchant's key. */

/** A person could not read a receipt with more payments. */
const MAX_SHOWN_SURPLUS = 20;
/** A signature that is sent again is one of the newest. */
const MAX_FAILED = 20;

export async function findPayment(db: Knex, id: string): Promise<Payment | undefined> {
  return await Payment.query(db).findById(id);
}

export async function getAnyPayment(db: Knex, id: string): Promise<Payment> {
  return requireFound(await findPayment(db, id), 'payment', id);
}

export async function listUndecidedPayments(db: Knex): Promise<Payment[]> {
  return await Payment.query(db).where('status', 'processing').orderBy('id');
}

interface PayloadUse {
  payloadKey: string;
  sessionId: string;
}

const readPayloadUse = batchReads<PayloadUse, true>(async (db, uses) => {
  const keys = [uses.map(({ payloadKey }) => payloadKey), uses.map(({ sessionId }) => sessionId)];
  const used = new Set(
    (await runStatement<{ index: number }>(db, PAYLOADS_USED, keys)).map(({ index }) => index),
  );
  return uses.map((_, index) => (used.has(index) ? true : undefined));
});

/** Whether a payment has this payload already. A released payload may claim its own session again. */
export async function isPayloadUsed(db: Knex, payloadKey: string, sessionId: string): Promise<boolean> {
  return (await readPayloadUse(db, { payloadKey, sessionId })) ?? false;
}

/** The last payment of this session whose outcome is unknown. */
export async function findUncertainPayment(db: Knex, sessionId: string): Promise<Payment | undefined> {
  const uncertain = { payableId: sessionId, failureCode: OUTCOME_UNKNOWN };
  return await Payment.query(db).where(uncertain).orderBy('id', 'desc').first();
}

/** The payments of this session that were taken, or may have been, beside the payment that holds or paid it. */
export async function listUncertainOrSurplus(db: Knex, sessionId: string): Promise<Payment[]> {
  return await Payment.query(db)
    .select('id', 'network', 'asset', 'payloadKey')
    .where({ payableId: sessionId })
    .where((either) => either.where({ failureCode: OUTCOME_UNKNOWN }).orWhere({ surplus: true }))
    .orderBy('id', 'desc');
}

/** The payments of this session that failed for certain, the newest first. */
export async function listFailed(db: Knex, sessionId: string): Promise<Payment[]> {
  return await Payment.query(db)
    .select('id', 'network', 'asset', 'payloadKey', 'failureCode')
    .where({ payableId: sessionId, status: 'failed' })
    .whereNot({ failureCode: OUTCOME_UNKNOWN })
    .orderBy('id', 'desc')
    .limit(MAX_FAILED);
}

/** The payments of this session that arrived after another one had paid it, the oldest first. */
export async function listSurplus(db: Knex, sessionId: string): Promise<Payment[]> {
  return await Payment.query(db)
    .select(...SHOWN_PAYMENT_FIELDS)
    .where({ payableId: sessionId, surplus: true, status: 'succeeded' })
    .orderBy('id')
    .limit(MAX_SHOWN_SURPLUS);
}

/** The payment of this session with this payment identifier, unless it certainly never reached the facilitator. */
export async function findNamedPayment(
  db: Knex,
  sessionId: string,
  identifier: string,
): Promise<Payment | undefined> {
  const named = { payableId: sessionId, identifier, payloadReleased: false };
  return await Payment.query(db).where(named).orderBy('id', 'desc').first();
}

/** The ids of these payments that are decided. */
export async function listDecided(db: Knex, ids: readonly string[]): Promise<string[]> {
  const rows = await runStatement<{ id: string }>(db, DECIDED, [ids]);
  return rows.map(({ id }) => id);
}
