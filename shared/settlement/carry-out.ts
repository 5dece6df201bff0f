import type { Knex } from '../db/knex.js';
import { retryThroughOutage } from '../db/retry-through-outage.js';
import { findPayment } from '../payments/find.js';
import { withObservation } from '../payments/history.js';
import { Payment } from '../payments/model.js';
import { now } from '../process/clock.js';
import type { NotifyDecided } from '../queues/decision-notifier.js';
import type { Queues } from '../queues/enqueue.js';
import type { OutcomeDeps, WriteResult } from './complete-payable.js';
import { failPayment } from './fail.js';
import { paymentJob } from './payment-job.js';
import { type Decision, observed, type Patch } from './policy/decision.js';
import { succeedPayment } from './succeed.js';
import { isQuarantined, type NextWork, type TakenPayment } from './take-work.js';

export interface WriteDeps extends OutcomeDeps {
  notifyDecided: NotifyDecided;
}

interface CarryOutDeps extends WriteDeps {
  queues: Pick<Queues, 'enqueue'>;
}

interface Written {
  kind: WriteResult;
  next?: NextWork | undefined;
}

export interface CarriedOut {
  kind: WriteResult;
  /** When the same job checks the chain again. */
  checkAgainAt?: Date;
}

/** Facts for the two cases in which the decision is not written. */
interface Fallbacks {
  /** The payment is another worker's: the transaction in which the facilitator says that it has settled it. */
  settledIn?: string | undefined;
  /** The transfer proves another payment. */
  ifProofTaken?: Decision | undefined;
}

/**
 * The only writer of a payment and its session after the claim: a decision becomes an outcome, with the session's move,
 * its event and deliveries, or the payment's next work. Then the request that waits, the deliveries and the next job are
 * notified. Nothing is written unless the payment is still the taker's (`attempt`).
 */
export async function carryOut(
  deps: CarryOutDeps,
  { payment, job }: Pick<TakenPayment, 'payment' | 'job'>,
  made: Decision,
  { settledIn, ifProofTaken }: Fallbacks = {},
): Promise<CarriedOut> {
  const decision = { ...made, said: withName(made.said, payment) };
  // The facilitator's answer exists in this process only, so the write is repeated until another worker takes the payment.
  const attempts = { until: payment.dueAt ?? now(), isOnlyCopy: decision.said.source === 'facilitator' };
  const onBroken = (error: unknown): void =>
    deps.logger.warn({ event: 'payment.written_again', ...named(payment), err: error });
  const { kind, next } = await retryThroughOutage({ ...attempts, onBroken }, async () => {
    const written = await writeDecision(deps, payment, decision);
    if (written.kind === 'superseded' && settledIn !== undefined) await noteSettled(deps, payment, settledIn);
    if (written.kind !== 'proof_taken' || ifProofTaken === undefined) return written;
    return await writeDecision(deps, payment, ifProofTaken);
  });
  if (next === undefined) return { kind };
  // The job of a chain check continues with the next check.
  if (job === 'confirm-payment' && next.stage !== 'settle') return { kind, checkAgainAt: next.dueAt };
  // A payment on which workers crashed is settled alone: the sweep finds it.
  if (next.stage === 'settle' && isQuarantined(payment)) return { kind };
  await deps.queues
    .enqueue(paymentJob({ id: payment.id, attempt: payment.attempt, ...next }))
    // The queue store is unavailable: the sweep finds the row.
    .catch((error: unknown) =>
      deps.logger.warn({ event: 'queue.job_not_added', ...named(payment), err: error }),
    );
  return { kind };
}

/** A facilitator's statement is recorded with the facilitator's name. */
function withName(said: Decision['said'], { facilitator }: Payment): Decision['said'] {
  return said.source === 'facilitator' && facilitator !== null ? { ...said, facilitator } : said;
}

/** Writes once, and notifies the request that waits for the outcome. */
export async function writeDecision(deps: WriteDeps, payment: Payment, decision: Decision): Promise<Written> {
  const written = await write(deps, payment, decision);
  if (written.kind === 'done' && isOutcome(decision)) deps.notifyDecided(payment.id);
  if (written.kind === 'proof_taken') {
    const transaction = successTransactionOf(decision);
    deps.logger.error({ event: 'payment.proof_taken', ...named(payment), transaction });
  }
  return written;
}

async function write(deps: WriteDeps, payment: Payment, decision: Decision): Promise<Written> {
  if (decision.kind === 'fail') return { kind: await failPayment(deps, payment, decision) };
  if (decision.kind === 'succeed') return { kind: await succeedPayment(deps, payment, decision) };
  const transaction = successTransactionOf(decision);
  if (transaction !== undefined && (await provesAnotherPayment(deps.db, payment, transaction)))
    return { kind: 'proof_taken' };
  return await postpone(deps.db, payment, decision);
}

function isOutcome({ kind }: Decision): boolean {
  return kind === 'fail' || kind === 'succeed';
}

/** The transaction of a success that the facilitator reported, or the chain proved. */
function successTransactionOf(decision: Decision): string | undefined {
  if (decision.kind === 'succeed') return decision.proof.transaction;
  const patch: Patch = 'patch' in decision ? decision.patch : {};
  return patch.settleUnclear === false ? (patch.reportedTransaction ?? undefined) : undefined;
}

/** Whether the transaction proves another payment. A success that waits for confirmations meets no unique index yet. */
async function provesAnotherPayment(
  db: Knex,
  { id, network }: Payment,
  transaction: string,
): Promise<boolean> {
  const other = Payment.query(db)
    .where({ network, transaction })
    // A payment of 0.2.0 whose transaction was only named has no `proof_index`.
    .where((named) => named.whereNotNull('proofIndex').orWhere({ proofIndex: null, status: 'succeeded' }))
    .whereNot({ id });
  return (await other.select('id').first()) !== undefined;
}

/** Writes the patch and the time of the next work. */
async function postpone(
  db: Knex,
  payment: Payment,
  decision: Exclude<Decision, { kind: 'succeed' | 'fail' }>,
): Promise<Written> {
  const next = workAfter(payment, decision);
  const patch: Patch = 'patch' in decision ? decision.patch : {};
  const updated = await Payment.query(db)
    .patch({
      ...patch,
      stage: next?.stage ?? null,
      dueAt: next?.dueAt ?? null,
      // Workers that crashed before the chain check may crash on the payment again.
      lostTakes: decision.kind === 'settle_again' ? payment.lostTakes - 1 : 0,
      // `settle_calls - 1` in SQL would count twice: a write whose answer was lost is repeated.
      ...('notSent' in decision && { settleCalls: payment.settleCalls - 1 }),
      history: withObservation(observed(decision)),
    })
    .where({ id: payment.id, attempt: payment.attempt, status: payment.status });
  return updated === 1 ? { kind: 'done', next } : { kind: 'superseded' };
}

/** The next work of the payment and its time; undefined when the payment is decided and no longer watched. */
function workAfter({ status }: Pick<Payment, 'status'>, decision: Decision): NextWork | undefined {
  switch (decision.kind) {
    case 'settle_again':
      return { stage: 'settle', dueAt: decision.at };
    case 'check_again':
      return { stage: status === 'failed' ? 'watch' : 'confirm', dueAt: decision.at };
    default:
      return undefined;
  }
}

/**
 * The facilitator has settled a payment that its worker had lost by then: the worker that has it now must know. If Postgres
 * has no such payment, it failed over to a copy without the last commits, and only a person can help.
 */
async function noteSettled({ db, logger }: WriteDeps, payment: Payment, transaction: string): Promise<void> {
  await Payment.query(db)
    .patch({ reportedTransaction: transaction, settleUnclear: false })
    .where('id', payment.id)
    .whereNot('status', 'succeeded');
  // A failed payment without a stage has no worker that would look for this transaction.
  await Payment.query(db)
    .patch({ stage: 'watch', dueAt: now() })
    .where({ id: payment.id, status: 'failed' })
    .whereNull('stage');
  if ((await findPayment(db, payment.id)) !== undefined) return;
  logger.error({
    event: 'payment.gone',
    ...named(payment),
    network: payment.network,
    token: payment.token,
    token_amount: payment.tokenAmount,
    pay_to: payment.payTo,
    transaction,
    hint: 'The money has moved, and Postgres has lost the payment. Was it restored, or did it fail over without the last commits?',
  });
}

function named({ id, payableId }: Payment): { payment: string; session: string } {
  return { payment: id, session: payableId };
}
