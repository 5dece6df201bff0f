import type { Knex } from '../db/knex.js';
import type { Payable } from '../payables/model.js';
import { PAYABLE_MOVES } from '../payables/states.js';
import { findUncertainPayment } from '../payments/find.js';
import { withObservation } from '../payments/history.js';
import { Payment } from '../payments/model.js';
import { OUTCOME_UNKNOWN, PAYMENT_MOVES } from '../payments/states.js';
import { certainNow, laterNowMs, now } from '../process/clock.js';
import {
  completePayable,
  lockPayable,
  movePayable,
  type OutcomeDeps,
  type WriteResult,
} from './complete-payable.js';
import { type Decision, observed } from './policy/decision.js';
import { afterFailure } from './policy/session-after.js';
import { recordMove } from './record-move.js';

type Failure = Omit<Extract<Decision, { kind: 'fail' }>, 'kind'>;

/** Locks the payable, then the payment; the payable moves only while the failed payment holds it. */
export async function failPayment(
  deps: OutcomeDeps,
  payment: Payment,
  { released, ...failure }: Failure,
): Promise<WriteResult> {
  return await deps.db.transaction(async (trx) => {
    const payable = await lockPayable(trx, payment);
    const failed = await Payment.query(trx)
      .patch({ ...failedColumns(failure), payloadReleased: released })
      .where({ id: payment.id, attempt: payment.attempt })
      .whereIn('status', PAYMENT_MOVES.fail.from)
      .returning('*')
      .first();
    if (failed === undefined) return 'superseded';
    await releasePayable(trx, deps, payable, failed);
    return 'done';
  });
}

export function failedColumns({ code, watchAt, ...decision }: Omit<Failure, 'released'>): object {
  return {
    status: PAYMENT_MOVES.fail.to,
    failureCode: code,
    // The later clock sets `failedAt`: the watch for late money ends a week after it.
    failedAt: new Date(laterNowMs()),
    stage: watchAt === undefined ? null : 'watch',
    dueAt: watchAt ?? null,
    lostTakes: 0,
    // The search for late money begins anew: it may have come where an earlier search has been.
    searchPlace: null,
    usedSeenAt: null,
    history: withObservation(observed(decision)),
  };
}

async function releasePayable(
  trx: Knex.Transaction,
  deps: OutcomeDeps,
  payable: Payable,
  failed: Payment,
): Promise<void> {
  // An expiry cannot be taken back: one clock that is ahead must not decide it. The sweep expires the payable later.
  const released = afterFailure(payable, failed.id, certainNow());
  if (released.kind === 'leave') return;
  if (released.kind === 'complete_with_late') {
    const late = await Payment.query(trx).findById(released.latePaymentId).throwIfNotFound();
    return await completePayable(trx, deps, payable, late);
  }
  const move = released.kind === 'reopen' ? PAYABLE_MOVES.reopen : PAYABLE_MOVES.expireAfterFailure;
  const moved = await movePayable(trx, payable, move, {
    paymentId: null,
    failureCode: await shownFailure(trx, failed),
    failureAt: failed.answeredProcessing ? now() : null,
  });
  await recordMove(trx, moved, deps);
}

/** The link goes on to warn of an earlier payment that may have been taken. */
async function shownFailure(
  trx: Knex.Transaction,
  { payableId, failureCode }: Payment,
): Promise<string | null> {
  if (failureCode === OUTCOME_UNKNOWN) return failureCode;
  return (await findUncertainPayment(trx, payableId)) === undefined ? failureCode : OUTCOME_UNKNOWN;
}
