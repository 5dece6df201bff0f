import { raw } from 'objection';
import { now } from '../../clock.js';
import type { Knex } from '../../db/knex.js';
import { noSuch, Refusal } from '../../domain/errors.js';
import { nextWatch } from '../../domain/payment.js';
import { Payment } from '../../models/payment.js';
import { failPayment, succeedPayment, type VerdictDeps } from './write-verdict.js';

/** A person's decision on a payment whose outcome is open; it takes the moves and events that each outcome takes. */
export type Resolution = { kind: 'paid'; transaction: string } | { kind: 'failed'; reason: string };

export async function resolvePayment(
  deps: VerdictDeps,
  id: string,
  resolution: Resolution,
): Promise<Payment> {
  // Raising the attempt takes the row from any worker that is at it.
  const payment = await Payment.query(deps.db)
    .patch({ attempt: raw('attempt + 1') })
    .where({ id, status: 'processing' })
    .returning('*')
    .first();
  if (payment === undefined) {
    const { status } = await getPayment(deps.db, id);
    throw new Refusal('parameter_invalid', `${id} is decided already: it is ${status}.`);
  }
  const result =
    resolution.kind === 'paid'
      ? await succeedPayment(
          deps,
          payment,
          { transaction: resolution.transaction, payer: undefined, proofIndex: undefined },
          { source: 'operator', said: `paid in ${resolution.transaction}` },
        )
      : await failPayment(
          deps,
          payment,
          {
            code: resolution.reason,
            released: false,
            watchAt: nextWatch(now(), payment.validUntil, now()),
          },
          { source: 'operator', said: `failed: ${resolution.reason}` },
        );
  if (result !== 'done')
    throw new Refusal('parameter_invalid', `${id} was decided meanwhile. Look at it again.`);
  deps.logger.warn({ event: 'payment.resolved_by_operator', payment: id, resolution: resolution.kind });
  return await getPayment(deps.db, id);
}

export async function getPayment(db: Knex, id: string): Promise<Payment> {
  const payment = await Payment.query(db).findById(id);
  if (payment === undefined) throw noSuch('payment', id);
  return payment;
}

export async function listUndecidedPayments(db: Knex): Promise<Payment[]> {
  return await Payment.query(db).where('status', 'processing').orderBy('id');
}
