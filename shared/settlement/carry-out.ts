import { raw } from 'objection';
import type { Knex } from '../db/knex.js';
import { withObservation } from '../payments/history.js';
import { Payment } from '../payments/model.js';
import type { NotifyDecided } from '../queues/decision-notifier.js';
import type { Decision, Patch } from './policy/decision.js';
import { succeedSettled } from './succeed-batch.js';
import type { NextWork } from './take-work.js';
import { failPayment, succeedPayment, type VerdictDeps, type VerdictResult } from './write-verdict.js';

/**
 * The only writer of a payment and its session after the claim: a decision becomes a verdict, with the session's move,
 * its event and deliveries, or the next work; then those hear of it who wait for it. Nothing is written unless the
 * payment is still the taker's.
 */
export interface CarryOutDeps extends VerdictDeps {
  notifyDecided: NotifyDecided;
}

export async function carryOut(
  deps: CarryOutDeps,
  payment: Payment,
  decision: Decision,
): Promise<VerdictResult> {
  if (decision.kind !== 'succeed' && decision.kind !== 'fail')
    return (await postpone(deps.db, payment, decision)) ? 'done' : 'superseded';
  const result =
    decision.kind === 'fail'
      ? await failPayment(deps, payment, decision)
      : await succeed(deps, payment, decision);
  if (result === 'done') deps.notifyDecided(payment.id);
  return result;
}

async function succeed(
  deps: VerdictDeps,
  payment: Payment,
  { proof, said }: Extract<Decision, { kind: 'succeed' }>,
): Promise<VerdictResult> {
  if (said.source !== 'facilitator') return await succeedPayment(deps, payment, { proof, said });
  const { transaction, payer } = proof;
  return await succeedSettled(deps, { payment, transaction, payer, observation: said });
}

/** What is to be done next for a payment in that state, and when; nothing for what is decided or no longer watched. */
export function workAfter({ status }: Pick<Payment, 'status'>, decision: Decision): NextWork | undefined {
  switch (decision.kind) {
    case 'settle_again':
      return { stage: 'settle', dueAt: decision.at };
    case 'look_again':
      return { stage: status === 'failed' ? 'watch' : 'confirm', dueAt: decision.at };
    default:
      return undefined;
  }
}

/** Writes the patch and when to go on; false when another taker has the row by now. */
async function postpone(
  db: Knex,
  payment: Payment,
  decision: Exclude<Decision, { kind: 'succeed' | 'fail' }>,
): Promise<boolean> {
  const next = workAfter(payment, decision);
  const patch: Patch = 'patch' in decision ? decision.patch : {};
  const updated = await Payment.query(db)
    .patch({
      ...patch,
      stage: next?.stage ?? null,
      dueAt: next?.dueAt ?? null,
      // What died with it before the look may die with it again.
      lostTakes: decision.kind === 'settle_again' ? raw('lost_takes - 1') : 0,
      ...('notSent' in decision && { settleCalls: raw('settle_calls - 1') }),
      history: withObservation(decision.said),
    })
    .where({ id: payment.id, attempt: payment.attempt, status: payment.status });
  return updated === 1;
}

/** The facilitator's clear word came to a worker that had lost the payment meanwhile: whoever has it now must know. */
export async function noteSettled(db: Knex, id: string, transaction: string): Promise<void> {
  await Payment.query(db)
    .patch({ reportedTransaction: transaction, settleUnclear: false })
    .where({ id })
    .whereNot('status', 'succeeded');
}
