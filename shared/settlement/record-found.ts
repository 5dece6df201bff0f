import { raw } from 'objection';
import type { Knex } from '../db/knex.js';
import { violatesUnique } from '../db/postgres-errors.js';
import { runStatement } from '../db/statement.js';
import { Payable } from '../payables/model.js';
import { Payment } from '../payments/model.js';
import { PAYMENT_MOVES } from '../payments/states.js';
import { newId } from '../values/ids.js';
import { type WriteDeps, writeDecision } from './carry-out.js';
import type { NewPayment } from './claim.js';
import type { Proof } from './policy/decision.js';
import { PAYLOADS_TAKEN } from './statements/record-found.sql.js';

/**
 * A payment that the chain proves and that Postgres has no row of, or has as failed: the row, its success, the session's move
 * and its event are written in one transaction, as for every payment that succeeds late. The unique indexes of payload and
 * proof hold here as they do for a claim.
 */
export interface FoundPayment
  extends Omit<NewPayment, 'identifier' | 'validUntil' | 'facilitator' | 'stage'> {
  /** The authorization as the chain shows it, without the buyer's signature. */
  payload: object;
}

type Recorded = { kind: 'recorded'; paymentId: string } | { kind: 'no_session' | 'taken' | 'proof_taken' };

const SAID = { source: 'chain', said: 'found by reconcile' } as const;

export async function recordFound(deps: WriteDeps, found: FoundPayment, proof: Proof): Promise<Recorded> {
  return await rolledBackUnlessDone(deps.db, async (trx) => {
    // The lock is the claim's: a claim with the same payload waits for it, or is seen here.
    const session = await Payable.query(trx).findById(found.payableId).forUpdate();
    if (session === undefined) return { kind: 'no_session' };
    const taken = await runStatement(trx, PAYLOADS_TAKEN, [found.payloadKey]);
    if (taken.length > 0) return { kind: 'taken' };
    const payment = await insertFound(trx, session, found);
    return await succeedByChain({ ...deps, db: trx }, payment, proof);
  });
}

/** Records the success of a payment that failed although its money moved. */
export async function recordLate(deps: WriteDeps, paymentId: string, proof: Proof): Promise<Recorded> {
  return await rolledBackUnlessDone(deps.db, async (trx) => {
    const ofPayment = Payment.query(trx).findById(paymentId).select('payableId');
    await Payable.query(trx).where('id', ofPayment).forUpdate().select('id');
    // Raising the attempt takes the row from a worker that watches it. A released payload must not claim again.
    const payment = await Payment.query(trx)
      .patch({ attempt: raw('attempt + 1'), payloadReleased: false })
      .where({ id: paymentId, status: PAYMENT_MOVES.fail.to })
      .returning('*')
      .first();
    if (payment === undefined) return { kind: 'taken' };
    return await succeedByChain({ ...deps, db: trx }, payment, proof);
  });
}

/** Writes the payment as failed, so that the policy's rows for late money decide about the session, whatever holds it. */
async function insertFound(
  trx: Knex.Transaction,
  { accountId, livemode, amountTotalCents }: Payable,
  { arrivedAt, ...found }: FoundPayment,
): Promise<Payment> {
  return await Payment.query(trx)
    .insert({
      ...found,
      id: newId('pay_'),
      accountId,
      livemode,
      amountCents: amountTotalCents,
      status: PAYMENT_MOVES.fail.to,
      failedAt: arrivedAt,
      claimedAt: arrivedAt,
      validUntil: arrivedAt,
    })
    .returning('*');
}

async function succeedByChain(deps: WriteDeps, payment: Payment, proof: Proof): Promise<Recorded> {
  const { kind } = await writeDecision(deps, payment, { kind: 'succeed', proof, said: SAID });
  if (kind === 'done') return { kind: 'recorded', paymentId: payment.id };
  return { kind: kind === 'proof_taken' ? 'proof_taken' : 'taken' };
}

/** A statement that violates a unique index has aborted its transaction, and what else was written must not stay. */
async function rolledBackUnlessDone(
  db: Knex,
  work: (trx: Knex.Transaction) => Promise<Recorded>,
): Promise<Recorded> {
  try {
    return await db.transaction(async (trx) => {
      const recorded = await work(trx);
      if (recorded.kind !== 'recorded') throw new NotRecorded(recorded);
      return recorded;
    });
  } catch (error) {
    if (error instanceof NotRecorded) return error.recorded;
    // A claim of another session, which the lock does not hold back, has the payload.
    if (violatesUnique(error, 'payments_payload')) return { kind: 'taken' };
    throw error;
  }
}

class NotRecorded extends Error {
  override readonly name = 'NotRecorded';
  readonly recorded: Recorded;

  constructor(recorded: Recorded) {
    super(recorded.kind);
    this.recorded = recorded;
  }
}
