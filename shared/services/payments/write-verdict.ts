import { now } from '../../clock.js';
import { violatesUnique } from '../../db/constraints.js';
import type { Knex } from '../../db/knex.js';
import { SESSION_MOVES, type SessionStatus } from '../../domain/checkout-session.js';
import { type Observation, PAYMENT_MOVES } from '../../domain/payment.js';
import type { Logger } from '../../logger.js';
import { CheckoutSession } from '../../models/checkout-session.js';
import { Payment } from '../../models/payment.js';
import { type EventDeps, recordEvents } from '../webhooks/events.js';
import { type NextWork, withObservation } from './take-work.js';

/**
 * The outcome of a payment, with its session's move and event, in one short transaction. Locks are taken in the order
 * session, payment. A payment moves only while it is the caller's (`attempt`); its session moves only while that
 * payment holds it, and not at all when the payment's own move matched no row. One transfer proves one payment.
 */
export interface VerdictDeps extends EventDeps {
  db: Knex;
  logger: Logger;
}

export interface ProofOfPayment {
  transaction: string;
  payer: string | undefined;
  /** Where the chain's proof lies in the transaction; undefined on the facilitator's word. */
  proofIndex: number | undefined;
}

/** `superseded`: somebody else has decided or taken the payment. `proof_taken`: the transfer paid for another one. */
export type VerdictResult = 'done' | 'superseded' | 'proof_taken';

export async function succeedPayment(
  deps: VerdictDeps,
  payment: Payment,
  proof: ProofOfPayment,
  observation: Omit<Observation, 'at'>,
): Promise<VerdictResult> {
  const { from, to } = payment.status === 'failed' ? PAYMENT_MOVES.arriveLate : PAYMENT_MOVES.succeed;
  try {
    return await deps.db.transaction(async (trx) => {
      const session = await lockSession(trx, payment);
      const succeeded = await Payment.query(trx)
        .patch({
          status: to,
          transaction: proof.transaction,
          proofIndex: proof.proofIndex ?? null,
          ...(proof.payer !== undefined && { payer: proof.payer }),
          settledAt: now(),
          stage: null,
          dueAt: null,
          failureCode: null,
          searchPlace: null,
          usedSeenAt: null,
          history: withObservation(observation),
        })
        .where({ id: payment.id, attempt: payment.attempt })
        .whereIn('status', from)
        .returning('*')
        .first();
      if (succeeded === undefined) return 'superseded';
      await placeMoney(trx, deps, session, succeeded);
      return 'done';
    });
  } catch (error) {
    if (violatesUnique(error, 'payments_proof')) return 'proof_taken';
    throw error;
  }
}

/** What a succeeded payment does to its session, in each of the session's states. */
async function placeMoney(
  trx: Knex.Transaction,
  deps: VerdictDeps,
  session: CheckoutSession,
  payment: Payment,
): Promise<void> {
  switch (session.status) {
    case 'open':
      return await completeSession(trx, deps, session, payment);
    case 'expired':
      deps.logger.error({ event: 'payment.after_expiry', payment: payment.id, session: session.id });
      return await completeSession(trx, deps, session, payment);
    case 'complete':
      return await markSurplus(trx, deps, payment.id);
    case 'processing':
      return await placeBesideAnother(trx, deps, session, payment);
  }
}

async function placeBesideAnother(
  trx: Knex.Transaction,
  deps: VerdictDeps,
  session: CheckoutSession,
  payment: Payment,
): Promise<void> {
  if (session.paymentId === payment.id) {
    await completeSession(trx, deps, session, payment);
    // Late money had come before this one: it is more than the session asked for.
    if (session.latePaymentId !== null) await markSurplus(trx, deps, session.latePaymentId);
    return;
  }
  const neverAsked = await Payment.query(trx)
    .patch(
      failure('session_already_paid', undefined, { source: 'service', said: 'the session was paid late' }),
    )
    .where('id', session.paymentId ?? '')
    .whereIn('status', PAYMENT_MOVES.fail.from)
    // Never asked, or surely turned away each time: waiting for its next call, with nothing in doubt.
    .where({ stage: 'settle', settleUnclear: false })
    .whereNull('reportedTransaction')
    .where((seen) => seen.where('settleCalls', 0).orWhereNotNull('settleEndedAt'));
  if (neverAsked === 1) return await completeSession(trx, deps, session, payment);
  if (session.latePaymentId !== null) return await markSurplus(trx, deps, payment.id);
  await CheckoutSession.query(trx).patch({ latePaymentId: payment.id }).where('id', session.id);
}

export interface FailedPayment {
  code: string;
  /** The payload never reached the facilitator and may claim this session again. */
  released: boolean;
  /** When to look for late money; undefined when none can come. */
  watchAt: Date | undefined;
}

export async function failPayment(
  deps: VerdictDeps,
  payment: Payment,
  { code, released, watchAt }: FailedPayment,
  observation: Omit<Observation, 'at'>,
): Promise<VerdictResult> {
  return await deps.db.transaction(async (trx) => {
    const session = await lockSession(trx, payment);
    const next = watchAt && { stage: 'watch' as const, dueAt: watchAt };
    const failed = await Payment.query(trx)
      .patch({ ...failure(code, next, observation), payloadReleased: released })
      .where({ id: payment.id, attempt: payment.attempt })
      .whereIn('status', PAYMENT_MOVES.fail.from)
      .returning('*')
      .first();
    if (failed === undefined) return 'superseded';
    if (session.status === 'processing' && session.paymentId === payment.id) {
      await releaseSession(trx, deps, session, failed);
    }
    return 'done';
  });
}

function failure(code: string, next: NextWork | undefined, observation: Omit<Observation, 'at'>): object {
  return {
    status: PAYMENT_MOVES.fail.to,
    failureCode: code,
    failedAt: now(),
    stage: next?.stage ?? null,
    dueAt: next?.dueAt ?? null,
    // Late money is looked for anew: it may have come where the search had been before.
    searchPlace: null,
    usedSeenAt: null,
    history: withObservation(observation),
  };
}

/** The payment that held it failed: late money completes the session, its time may be over, or it is open again. */
async function releaseSession(
  trx: Knex.Transaction,
  deps: VerdictDeps,
  session: CheckoutSession,
  failed: Payment,
): Promise<void> {
  if (session.latePaymentId !== null) {
    const late = await Payment.query(trx).findById(session.latePaymentId).throwIfNotFound();
    return await completeSession(trx, deps, session, late);
  }
  const told = failed.answeredProcessing
    ? { failureCode: failed.failureCode, failureAt: failed.failedAt }
    : {};
  if (session.expiresAt > now()) {
    await moveSession(trx, session, SESSION_MOVES.reopen, { paymentId: null, ...told });
    return;
  }
  const expired = await moveSession(trx, session, SESSION_MOVES.expireAfterFailure, {
    paymentId: null,
    ...told,
  });
  await recordEvents(trx, 'checkout.session.expired', [expired], deps);
}

async function completeSession(
  trx: Knex.Transaction,
  deps: VerdictDeps,
  session: CheckoutSession,
  payment: Payment,
): Promise<void> {
  const completed = await moveSession(trx, session, SESSION_MOVES.complete, { paymentId: payment.id });
  completed.payment = payment;
  await recordEvents(trx, 'checkout.session.completed', [completed], deps);
  deps.logger.info({ event: 'session.completed', session: session.id, payment: payment.id });
}

async function markSurplus(trx: Knex.Transaction, { logger }: VerdictDeps, paymentId: string): Promise<void> {
  await Payment.query(trx).patch({ surplus: true }).where('id', paymentId);
  logger.error({ event: 'payment.surplus', payment: paymentId });
}

async function lockSession(trx: Knex.Transaction, payment: Payment): Promise<CheckoutSession> {
  return await CheckoutSession.query(trx).findById(payment.checkoutSessionId).forUpdate().throwIfNotFound();
}

/** The row is locked, so a move that matches nothing is a mistake of ours. */
async function moveSession(
  trx: Knex.Transaction,
  session: CheckoutSession,
  { from, to }: { from: readonly SessionStatus[]; to: SessionStatus },
  changes: Partial<Pick<CheckoutSession, 'paymentId' | 'failureCode' | 'failureAt'>>,
): Promise<CheckoutSession> {
  return await CheckoutSession.query(trx)
    .patch({ status: to, ...changes })
    .where('id', session.id)
    .whereIn('status', from)
    .returning('*')
    .first()
    .throwIfNotFound();
}
