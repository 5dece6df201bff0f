import { unlessRolledBack } from '../db/after-commit.js';
import { batchWrites, LINGER_MS } from '../db/batch-writes.js';
import type { Knex } from '../db/knex.js';
import { violatesUnique } from '../db/postgres-errors.js';
import { runStatement, type Statement } from '../db/statement.js';
import { Payable } from '../payables/model.js';
import { PAYABLE_MOVES } from '../payables/states.js';
import { Payment } from '../payments/model.js';
import { presentPayment } from '../payments/present.js';
import { PAYMENT_MOVES } from '../payments/states.js';
import { now } from '../process/clock.js';
import { newId } from '../values/ids.js';
import { completePayable, lockPayable, type OutcomeDeps, type WriteResult } from './complete-payable.js';
import { failedColumns } from './fail.js';
import { type Decision, observed } from './policy/decision.js';
import { afterSuccess, isHeldByAnother } from './policy/session-after.js';
import {
  NOT_PROVED,
  PROOF_TAKEN,
  SUCCEED_ALONE,
  SUCCEED_PAYMENT,
  SUCCEED_TOGETHER,
  type SuccessRow,
} from './statements/succeed.sql.js';

/**
 * Writes the success of a payment, with its payable's move, event and deliveries. One statement does it for a payment
 * that holds its payable: facilitators' answers share it, every other success runs it alone and waits for the locks.
 * Payments that the statement leaves out are written in steps. Both lock the payable, then the payment.
 */
export async function succeedPayment(
  deps: OutcomeDeps,
  payment: Payment,
  decision: Succeed,
): Promise<WriteResult> {
  const success = successOf(payment, decision);
  return decision.said.source === 'facilitator'
    ? await succeedTogether(deps.db, { deps, success })
    : await succeedAlone(deps, success);
}

type Succeed = Pick<Extract<Decision, { kind: 'succeed' }>, 'proof' | 'said' | 'row'>;

/** The payment as its worker took it, the payment after its success, and the row for the statements. */
interface Success {
  taken: Payment;
  succeeded: Payment;
  row: SuccessRow;
}

const succeedTogether = batchWrites<{ deps: OutcomeDeps; success: Success }, WriteResult>({
  keyOf: ({ success }) => success.row.payable_id,
  lingerMs: LINGER_MS,
  async writeBatch(db, all) {
    const rows = all.map(({ success }) => success.row);
    const written = await runSuccessStatement(db, SUCCEED_TOGETHER, rows);
    return all.map(({ deps, success }) => announce(deps, success, written));
  },
  writeOne: (_db, { deps, success }) => succeedAlone(deps, success),
});

export async function succeedAlone(deps: OutcomeDeps, success: Success): Promise<WriteResult> {
  try {
    const written = await runSuccessStatement(deps.db, SUCCEED_ALONE, [success.row]);
    return announce(deps, success, written) ?? (await succeedInSteps(deps, success));
  } catch (error) {
    if (violatesUnique(error, 'payments_proof')) return 'proof_taken';
    throw error;
  }
}

/** Returns the endpoints of each event that the statement wrote, by the event's id. */
async function runSuccessStatement(
  db: Knex,
  statement: Statement,
  successes: readonly SuccessRow[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const values = [JSON.stringify(successes), PAYABLE_MOVES.claim.to, PAYMENT_MOVES.succeed.from, now()];
  const rows = await runStatement<{ eventId: string; endpointIds: string[] }>(db, statement, values);
  return new Map(rows.map(({ eventId, endpointIds }) => [eventId, endpointIds]));
}

/** Runs after the commit. Returns undefined for a payment that the statement left out. */
function announce(
  { notifyDeliveries, logger }: OutcomeDeps,
  { succeeded, row }: Success,
  written: ReadonlyMap<string, readonly string[]>,
): 'done' | undefined {
  const endpointIds = written.get(row.event_id);
  if (endpointIds === undefined) return undefined;
  const accountIds = endpointIds.length === 0 ? [] : [succeeded.accountId];
  notifyDeliveries({ eventId: row.event_id, accountIds });
  logger.info({ event: 'session.completed', session: row.payable_id, payment: row.id });
  return 'done';
}

/**
 * Writes an unusual success in one transaction: another payment holds the payable, late money waits there, the transfer
 * proves another payment, or another worker has taken the payment. Locks the payment that holds the payable last.
 */
export async function succeedInSteps(
  deps: OutcomeDeps,
  { taken, succeeded, row }: Success,
): Promise<WriteResult> {
  const { from } = taken.status === 'failed' ? PAYMENT_MOVES.arriveLate : PAYMENT_MOVES.succeed;
  const list = JSON.stringify([row]);
  return await deps.db.transaction(async (trx) => {
    if ((await runStatement(trx, PROOF_TAKEN, [list])).length > 0) return 'proof_taken';
    const payable = await lockPayable(trx, taken);
    if ((await runStatement(trx, SUCCEED_PAYMENT, [list, from])).length === 0) return 'superseded';
    await applyToPayable(trx, deps, payable, succeeded);
    return 'done';
  });
}

async function applyToPayable(
  trx: Knex.Transaction,
  deps: OutcomeDeps,
  payable: Payable,
  payment: Payment,
): Promise<void> {
  const holding = isHeldByAnother(payable, payment.id)
    ? await Payment.query(trx)
        .findById(payable.paymentId ?? '')
        .forUpdate()
    : undefined;
  const commitsMayBeLost = deps.commits?.mayHaveLost() ?? true;
  const next = afterSuccess({ session: payable, paymentId: payment.id, holding, commitsMayBeLost });
  if (next.kind === 'surplus') return await markSurplus(trx, deps, payment.id, payable.id);
  if (next.kind === 'keep_as_late') {
    await Payable.query(trx).patch({ latePaymentId: payment.id }).where('id', payable.id);
    return;
  }
  if (payable.status === 'expired')
    unlessRolledBack(trx, () =>
      deps.logger.error({ event: 'payment.after_expiry', payment: payment.id, session: payable.id }),
    );
  if (next.kind === 'complete_instead') await failHolding(trx, holding);
  await completePayable(trx, deps, payable, payment);
  if (next.kind === 'complete' && next.surplusPaymentId !== null)
    await markSurplus(trx, deps, next.surplusPaymentId, payable.id);
}

/** Fails the payment that holds the payable: it was not sent to `/settle`, or surely not processed. */
async function failHolding(trx: Knex.Transaction, holding: Payment | undefined): Promise<void> {
  const said = { source: 'service', said: 'the session was paid late' } as const;
  await holding
    ?.$query(trx)
    .patch(failedColumns({ code: 'session_already_paid', watchAt: undefined, said }))
    .whereIn('status', PAYMENT_MOVES.fail.from);
}

async function markSurplus(
  trx: Knex.Transaction,
  { logger }: OutcomeDeps,
  paymentId: string,
  session: string,
): Promise<void> {
  await Payment.query(trx).patch({ surplus: true }).where('id', paymentId);
  unlessRolledBack(trx, () => logger.error({ event: 'payment.surplus', payment: paymentId, session }));
}

export function successOf(taken: Payment, { proof, ...decision }: Succeed): Success {
  const settledAt = now();
  const succeeded = Object.assign(new Payment(), taken, {
    status: PAYMENT_MOVES.succeed.to,
    transaction: proof.transaction,
    payer: proof.payer ?? taken.payer,
    settledAt,
  });
  const row = {
    id: taken.id,
    attempt: taken.attempt,
    payable_id: taken.payableId,
    transaction: proof.transaction,
    proof_index: proof.proofIndex ?? NOT_PROVED,
    payer: succeeded.payer,
    settled_at: settledAt,
    observation: { at: settledAt, ...observed(decision) },
    event_id: newId('evt_'),
    shown: presentPayment(succeeded),
  };
  return { taken, succeeded, row };
}
