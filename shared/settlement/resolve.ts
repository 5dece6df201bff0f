import { raw } from 'objection';
import type { Knex } from '../db/knex.js';
import { noSuch, Refusal } from '../errors/refusal.js';
import { Payable } from '../payables/model.js';
import { Payment } from '../payments/model.js';
import { earlierNowMs, now } from '../process/clock.js';
import { type WriteDeps, writeDecision } from './carry-out.js';
import { byOperator, type Resolution, whyItCanArrive } from './policy/by-operator.js';

export async function resolvePayment(deps: WriteDeps, id: string, resolution: Resolution): Promise<Payment> {
  // Within a transaction the locks are kept: the session's comes first, as in every other writer.
  const ofPayment = Payment.query(deps.db).findById(id).select('payableId');
  await Payable.query(deps.db).where('id', ofPayment).forUpdate().select('id');
  // Raising the attempt takes the row from a worker that holds it.
  const payment = await Payment.query(deps.db)
    .patch({ attempt: raw('attempt + 1') })
    .where({ id, status: 'processing' })
    .returning('*')
    .first();
  if (payment === undefined) {
    const { status } = await getPayment(deps.db, id);
    throw new Refusal('parameter_invalid', `${id} is decided already: it is ${status}.`);
  }
  const { kind } = await writeDecision(deps, payment, byOperator(payment, resolution, { now: now() }));
  if (kind !== 'done')
    throw new Refusal('parameter_invalid', `${id} was decided meanwhile. Look at it again.`);
  const session = payment.payableId;
  deps.logger.warn({
    event: 'payment.resolved_by_operator',
    payment: id,
    session,
    resolution: resolution.kind,
  });
  return await getPayment(deps.db, id);
}

/** Refuses a failure of a payment whose money can still move, unless the operator allowed it. */
export async function refuseIfItCanStillArrive(db: Knex, id: string): Promise<void> {
  const payment = await getPayment(db, id);
  const why = whyItCanArrive(payment, { now: new Date(earlierNowMs()) });
  if (payment.status !== 'processing' || why === undefined) return;
  throw new Refusal(
    'parameter_invalid',
    `${id} can still arrive: ${why}. The session would open again and its buyer could pay twice. Wait, or add --even-if-it-can-still-arrive.`,
  );
}

export async function getPayment(db: Knex, id: string): Promise<Payment> {
  const payment = await Payment.query(db).findById(id);
  if (payment === undefined) throw noSuch('payment', id);
  return payment;
}

export async function listUndecidedPayments(db: Knex): Promise<Payment[]> {
  return await Payment.query(db).where('status', 'processing').orderBy('id');
}
