import { afterCommit } from '../db/after-commit.js';
import type { CommitMemory } from '../db/commit-memory.js';
import type { Knex } from '../db/knex.js';
import { Payable } from '../payables/model.js';
import { PAYABLE_MOVES, type PayableStatus } from '../payables/states.js';
import type { Payment } from '../payments/model.js';
import type { Logger } from '../process/logger.js';
import { logExcessRefund } from '../refunds/refunded-sum.js';
import type { EventDeps } from '../webhooks/events.js';
import { recordMove } from './record-move.js';

export interface OutcomeDeps extends EventDeps {
  db: Knex;
  logger: Logger;
  /** Absent in a command, which does not know whether commits were lost: it takes nothing for remembered. */
  commits?: Pick<CommitMemory, 'mayHaveLost'> | undefined;
}

/** `superseded`: the payment is decided, or another worker has taken it. `proof_taken`: the transfer proves another payment. */
export type WriteResult = 'done' | 'superseded' | 'proof_taken';

/** Lock order: the payable, then the payment. */
export async function lockPayable(trx: Knex.Transaction, payment: Payment): Promise<Payable> {
  return await Payable.query(trx).findById(payment.payableId).forUpdate().throwIfNotFound();
}

/** The caller has locked the payable. */
export async function completePayable(
  trx: Knex.Transaction,
  deps: OutcomeDeps,
  payable: Payable,
  payment: Payment,
): Promise<void> {
  const completed = await movePayable(trx, payable, PAYABLE_MOVES.complete, { paymentId: payment.id });
  completed.payment = payment;
  await recordMove(trx, completed, deps);
  if (payable.status === 'expired') await logExcessRefund(trx, deps, completed);
  afterCommit(trx, () =>
    deps.logger.info({ event: 'session.completed', session: payable.id, payment: payment.id }),
  );
}

/** The row is locked, so a move that matches nothing is a fault of this code. */
export async function movePayable(
  trx: Knex.Transaction,
  payable: Payable,
  { from, to }: { from: readonly PayableStatus[]; to: PayableStatus },
  changes: Partial<Pick<Payable, 'paymentId' | 'failureCode' | 'failureAt'>>,
): Promise<Payable> {
  return await Payable.query(trx)
    .patch({ status: to, ...changes })
    .where('id', payable.id)
    .whereIn('status', from)
    .returning('*')
    .first()
    .throwIfNotFound();
}
