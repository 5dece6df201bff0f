import { setTimeout as sleep } from 'node:timers/promises';
import { now } from '../clock.js';
import { sqlState, violatesUnique } from '../db/constraints.js';
import type { Knex } from '../db/knex.js';
import { SESSION_MOVES } from '../domain/checkout-session.js';
import type { Channel, Token } from '../domain/payment.js';
import { newId } from '../ids.js';
import { CheckoutSession } from '../models/checkout-session.js';
import { Payment } from '../models/payment.js';

/**
 * A payment that passed every check claims its session: one statement moves the session, which must be open and not
 * over, and writes the payment with its first work due. Of many at once one wins; a payload claims once over all
 * sessions, unless its payment surely never reached the facilitator: then the same session may be claimed again.
 */
export interface NewPayment {
  sessionId: string;
  token: Token;
  tokenAmount: string;
  tokenDecimals: number;
  network: string;
  asset: string;
  payer: string | null;
  payTo: string;
  channel: Channel;
  payloadKey: string;
  requirements: object;
  payload: object;
  validUntil: Date;
}

export type Claim =
  | { kind: 'claimed'; paymentId: string; dueAt: Date }
  | { kind: 'lost' }
  | { kind: 'unclear' };

const READ_ATTEMPTS = 4;
const READ_PAUSE_MS = 250;

const CLAIM = `
  WITH claimed AS (
    UPDATE checkout_sessions
    SET status = '${SESSION_MOVES.claim.to}', payment_id = :id, failure_code = NULL, failure_at = NULL
    WHERE id = :session_id AND status = ANY (:from) AND expires_at > :now
      AND NOT EXISTS (
        SELECT 1 FROM payments
        WHERE payload_key = :payload_key AND (NOT payload_released OR checkout_session_id <> :session_id)
      )
    RETURNING id, account_id, livemode, amount_total_cents
  )
  INSERT INTO payments (id, checkout_session_id, account_id, livemode, status, amount_cents, token, token_amount,
    token_decimals, network, asset, payer, pay_to, channel, payload_key, requirements, payload, valid_until,
    claimed_at, stage, due_at)
  SELECT :id, id, account_id, livemode, 'processing', amount_total_cents, :token, :token_amount,
    :token_decimals, :network, :asset, :payer, :pay_to, :channel, :payload_key, :requirements, :payload, :valid_until,
    :now, 'settle', :now
  FROM claimed`;

export async function claimSession(db: Knex, payment: NewPayment): Promise<Claim> {
  const id = newId('pay_');
  const claimedAt = now();
  try {
    const { rowCount } = await db.raw(CLAIM, {
      id,
      now: claimedAt,
      from: [...SESSION_MOVES.claim.from],
      session_id: payment.sessionId,
      token: payment.token,
      token_amount: payment.tokenAmount,
      token_decimals: payment.tokenDecimals,
      network: payment.network,
      asset: payment.asset,
      payer: payment.payer,
      pay_to: payment.payTo,
      channel: payment.channel,
      payload_key: payment.payloadKey,
      requirements: JSON.stringify(payment.requirements),
      payload: JSON.stringify(payment.payload),
      valid_until: payment.validUntil,
    });
    return rowCount === 1 ? { kind: 'claimed', paymentId: id, dueAt: claimedAt } : { kind: 'lost' };
  } catch (error) {
    if (violatesUnique(error, 'payments_payload')) return { kind: 'lost' };
    if (isDatabaseRefusal(error)) throw error;
    return await readLostClaim(db, id, payment.sessionId);
  }
}

/** Postgres said no and kept the connection: nothing was committed. Without its answer anything may have happened. */
function isDatabaseRefusal(error: unknown): boolean {
  const state = sqlState(error);
  // 57P is a server going down, 08 a broken connection.
  return state !== undefined && !state.startsWith('57P') && !state.startsWith('08');
}

/**
 * The connection broke while the claim was committed. The session's row lock waits for a claim that is still being
 * carried out; then the payment is there or is not. What cannot be read may have been claimed.
 */
async function readLostClaim(db: Knex, paymentId: string, sessionId: string): Promise<Claim> {
  for (let attempt = 1; attempt <= READ_ATTEMPTS; attempt++) {
    try {
      return await db.transaction(async (trx): Promise<Claim> => {
        await CheckoutSession.query(trx).findById(sessionId).select('id').forUpdate();
        const payment = await Payment.query(trx).findById(paymentId).select('id', 'dueAt');
        if (payment === undefined) throw new ClaimNotMade();
        return { kind: 'claimed', paymentId, dueAt: payment.dueAt ?? now() };
      });
    } catch (error) {
      if (error instanceof ClaimNotMade) throw error;
      // What broke one connection has often broken the others of the pool.
      if (attempt < READ_ATTEMPTS) await sleep(READ_PAUSE_MS);
    }
  }
  return { kind: 'unclear' };
}

/** The claim was lost on the way to Postgres: no money can move, and the same payload may be sent again. */
export class ClaimNotMade extends Error {
  override readonly name = 'ClaimNotMade';
}
