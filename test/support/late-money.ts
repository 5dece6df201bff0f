import assert from 'node:assert/strict';
import type { Behaviour } from '../../lab/world/facilitator/dial.js';
import { eventually } from '../../lab/world/processes/eventually.js';
import { Payment } from '../../shared/payments/model.js';
import { nowMs } from '../../shared/process/clock.js';
import type { SignedPayment } from './checkout.js';
import { told } from './link-answers.js';
import type { Hands, MoneyFlow } from './money-flow.js';

/** The money moves, and the facilitator says for certain that it does not. */
const MOVES_AND_DENIES: Behaviour = {
  answer: () => ({
    status: 200,
    body: { success: false, errorReason: 'insufficient_funds', transaction: '' },
  }),
};

/** Sends a payment whose answer waits for its outcome, and resolves when it has claimed the session. */
export async function send(
  flow: MoneyFlow,
  sessionId: string,
): Promise<{ id: string; signed: SignedPayment; answer: Promise<string> }> {
  const signed = await flow.sign(sessionId);
  const answer = flow.visit(sessionId, { 'PAYMENT-SIGNATURE': signed.header }).then(told);
  const id = await eventually(async () => {
    const { status, paymentId } = await flow.session(sessionId);
    assert.equal(status, 'processing');
    return paymentId ?? '';
  });
  return { id, signed, answer };
}

/** Its money moves all the same. */
export async function payAndBeDenied(flow: MoneyFlow, hands: Hands, sessionId: string): Promise<string> {
  flow.facilitator.settle.next(MOVES_AND_DENIES);
  const { id, answer } = await send(flow, sessionId);
  await hands.doNext(id);
  assert.equal(await answer, '402 insufficient_funds');
  assert.equal((await flow.session(sessionId)).status, 'open');
  return id;
}

/** The look at the chain that is due after the authorization's end. */
export async function lookLate(flow: MoneyFlow, hands: Hands, paymentId: string): Promise<void> {
  const payment = await Payment.query(flow.db).findById(paymentId).throwIfNotFound();
  assert.equal(payment.stage, 'watch');
  assert.ok(payment.dueAt !== null && payment.dueAt > payment.validUntil);
  // Stands for the time passing.
  await Payment.query(flow.db)
    .patch({ dueAt: new Date(nowMs() - 1) })
    .where('id', paymentId);
  await hands.doNext(paymentId);
}
