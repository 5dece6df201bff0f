import assert from 'node:assert/strict';
import type { Behaviour } from '../../lab/world/facilitator/dial.js';
import { eventually } from '../../lab/world/processes/eventually.js';
import { Payment } from '../../shared/payments/model.js';
import { nowMs } from '../../shared/process/clock.js';
import type { SignedPayment } from './checkout.js';
import { answerOf } from './link-answers.js';
import type { ManualWorker, MoneyFlow } from './money-flow.js';

/** The money moves, and the facilitator answers with a clear refusal. */
const MOVES_AND_DENIES: Behaviour = {
  answer: () => ({
    status: 200,
    body: { success: false, errorReason: 'kyt_risk_detected', transaction: '' },
  }),
};

/** Sends a payment whose answer waits for its outcome, and resolves once the session is claimed. */
export async function send(
  flow: MoneyFlow,
  sessionId: string,
): Promise<{ id: string; signed: SignedPayment; answer: Promise<string> }> {
  const signed = await flow.sign(sessionId);
  const answer = flow.visit(sessionId, { 'PAYMENT-SIGNATURE': signed.header }).then(answerOf);
  const id = await eventually(async () => {
    const { status, paymentId } = await flow.session(sessionId);
    assert.equal(status, 'processing');
    return paymentId ?? '';
  });
  return { id, signed, answer };
}

/** Pays; the facilitator refuses the payment, and its money moves all the same. */
export async function payAndBeDenied(
  flow: MoneyFlow,
  manualWorker: ManualWorker,
  sessionId: string,
): Promise<string> {
  flow.facilitator.settle.next(MOVES_AND_DENIES);
  const { id, answer } = await send(flow, sessionId);
  await manualWorker.doNext(id);
  assert.equal(await answer, '402 kyt_risk_detected');
  assert.equal((await flow.session(sessionId)).status, 'open');
  return id;
}

/** The check of the chain that is due after the authorization's end. */
export async function checkLate(
  flow: MoneyFlow,
  manualWorker: ManualWorker,
  paymentId: string,
): Promise<void> {
  const payment = await Payment.query(flow.db).findById(paymentId).throwIfNotFound();
  assert.equal(payment.stage, 'watch');
  assert.ok(payment.dueAt !== null && payment.dueAt > payment.validUntil);
  // Makes the check due now.
  await Payment.query(flow.db)
    .patch({ dueAt: new Date(nowMs() - 1) })
    .where('id', paymentId);
  await manualWorker.doNext(paymentId);
}
