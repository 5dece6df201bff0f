import { violatesUnique } from '../db/constraints.js';
import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { Payable } from '../payables/model.js';
import { SESSION_MOVES, type SessionStatus } from '../payables/states.js';
import { withObservation } from '../payments/history.js';
import { Payment } from '../payments/model.js';
import { PAYMENT_MOVES } from '../payments/states.js';
import { now } from '../process/clock.js';
import type { Logger } from '../process/logger.js';
import { watchRefundedSum } from '../refunds/refunded-sum.js';
import type { EventDeps } from '../webhooks/events.js';
import type { Decision } from './policy/decision.js';
import { afterFailure, afterSuccess, isHeldByAnother } from './policy/session-after.js';
import { recordMove } from './record-move.js';
import { PROOF_ARCHIVED } from './statements/proof-archived.sql.js';

/**
 * The outcome of a payment, with its session's move and event, in one short transaction. Locks are taken in the order
 * session, payment. A payment moves only while it is the caller's (`attempt`); its session moves only while that
 * payment holds it, and not at all when the payment's own move matched no row. One transfer proves one payment.
 */
export interface VerdictDeps extends EventDeps {
  db: Knex;
  logger: Logger;
}

/** `superseded`: somebody else has decided or taken the payment. `proof_taken`: the transfer paid for another one. */
export type VerdictResult = 'done' | 'superseded' | 'proof_taken';

export async function succeedPayment(
  deps: VerdictDeps,
  payment: Payment,
  { proof, said }: Pick<Extract<Decision, { kind: 'succeed' }>, 'proof' | 'said'>,
): Promise<VerdictResult> {
  const { from, to } = payment.status === 'failed' ? PAYMENT_MOVES.arriveLate : PAYMENT_MOVES.succeed;
  try {
    return await deps.db.transaction(async (trx) => {
      if (await isProofArchived(trx, payment, proof)) return 'proof_taken';
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
          history: withObservation(said),
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

async function isProofArchived(
  trx: Knex,
  { id, network }: Payment,
  { transaction, proofIndex }: { transaction: string; proofIndex?: number | undefined },
): Promise<boolean> {
  if (proofIndex == null) return false;
  return (await runStatement(trx, PROOF_ARCHIVED, [network, transaction, proofIndex, id])).length > 0;
}

async function placeMoney(
  trx: Knex.Transaction,
  deps: VerdictDeps,
  session: Payable,
  payment: Payment,
): Promise<void> {
  const holding = isHeldByAnother(session, payment.id)
    ? await Payment.query(trx)
        .findById(session.paymentId ?? '')
        .forUpdate()
    : undefined;
  const placed = afterSuccess(session, payment.id, holding);
  if (placed.kind === 'surplus') return await markSurplus(trx, deps, payment.id, session.id);
  if (placed.kind === 'keep_as_late') {
    await Payable.query(trx).patch({ latePaymentId: payment.id }).where('id', session.id);
    return;
  }
  if (session.status === 'expired')
    deps.logger.error({ event: 'payment.after_expiry', payment: payment.id, session: session.id });
  if (placed.kind === 'complete_instead') await failUnasked(trx, holding);
  await completeSession(trx, deps, session, payment);
  if (placed.kind === 'complete' && placed.surplusPaymentId !== null)
    await markSurplus(trx, deps, placed.surplusPaymentId, session.id);
}

async function failUnasked(trx: Knex.Transaction, holding: Payment | undefined): Promise<void> {
  const said = { source: 'service', said: 'the session was paid late' } as const;
  await holding
    ?.$query(trx)
    .patch(failure({ code: 'session_already_paid', watchAt: undefined, said }))
    .whereIn('status', PAYMENT_MOVES.fail.from);
}

export async function failPayment(
  deps: VerdictDeps,
  payment: Payment,
  decision: Omit<Failure, 'kind'>,
): Promise<VerdictResult> {
  return await deps.db.transaction(async (trx) => {
    const session = await lockSession(trx, payment);
    const failed = await Payment.query(trx)
      .patch({ ...failure(decision), payloadReleased: decision.released })
      .where({ id: payment.id, attempt: payment.attempt })
      .whereIn('status', PAYMENT_MOVES.fail.from)
      .returning('*')
      .first();
    if (failed === undefined) return 'superseded';
    await releaseSession(trx, deps, session, failed);
    return 'done';
  });
}

type Failure = Extract<Decision, { kind: 'fail' }>;

function failure({ code, watchAt, said }: Pick<Failure, 'code' | 'watchAt' | 'said'>): object {
  return {
    status: PAYMENT_MOVES.fail.to,
    failureCode: code,
    failedAt: now(),
    stage: watchAt === undefined ? null : 'watch',
    dueAt: watchAt ?? null,
    lostTakes: 0,
    // Late money is looked for anew: it may have come where the search had been before.
    searchPlace: null,
    usedSeenAt: null,
    history: withObservation(said),
  };
}

async function releaseSession(
  trx: Knex.Transaction,
  deps: VerdictDeps,
  session: Payable,
  failed: Payment,
): Promise<void> {
  const released = afterFailure(session, failed.id, now());
  if (released.kind === 'leave') return;
  if (released.kind === 'complete_with_late') {
    const late = await Payment.query(trx).findById(released.latePaymentId).throwIfNotFound();
    return await completeSession(trx, deps, session, late);
  }
  const why = {
    failureCode: failed.failureCode,
    failureAt: failed.answeredProcessing ? failed.failedAt : null,
  };
  const move = released.kind === 'reopen' ? SESSION_MOVES.reopen : SESSION_MOVES.expireAfterFailure;
  const moved = await moveSession(trx, session, move, { paymentId: null, ...why });
  await recordMove(trx, moved, deps);
}

async function completeSession(
  trx: Knex.Transaction,
  deps: VerdictDeps,
  session: Payable,
  payment: Payment,
): Promise<void> {
  const completed = await moveSession(trx, session, SESSION_MOVES.complete, { paymentId: payment.id });
  completed.payment = payment;
  await recordMove(trx, completed, deps);
  if (session.status === 'expired') await watchRefundedSum(trx, deps, completed);
  deps.logger.info({ event: 'session.completed', session: session.id, payment: payment.id });
}

async function markSurplus(
  trx: Knex.Transaction,
  { logger }: VerdictDeps,
  paymentId: string,
  session: string,
): Promise<void> {
  await Payment.query(trx).patch({ surplus: true }).where('id', paymentId);
  logger.error({ event: 'payment.surplus', payment: paymentId, session });
}

async function lockSession(trx: Knex.Transaction, payment: Payment): Promise<Payable> {
  return await Payable.query(trx).findById(payment.checkoutSessionId).forUpdate().throwIfNotFound();
}

/** The row is locked, so a move that matches nothing is a mistake of ours. */
async function moveSession(
  trx: Knex.Transaction,
  session: Payable,
  { from, to }: { from: readonly SessionStatus[]; to: SessionStatus },
  changes: Partial<Pick<Payable, 'paymentId' | 'failureCode' | 'failureAt'>>,
): Promise<Payable> {
  return await Payable.query(trx)
    .patch({ status: to, ...changes })
    .where('id', session.id)
    .whereIn('status', from)
    .returning('*')
    .first()
    .throwIfNotFound();
}
