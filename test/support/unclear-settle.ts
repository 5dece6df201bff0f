import assert from 'node:assert/strict';
import type { EvmChain } from '../../lab/world/chains/evm-chain.js';
import type { Behaviour } from '../../lab/world/facilitator/dial.js';
import { nowMs } from '../../shared/process/clock.js';
import {
  BUYER,
  type Checkout,
  openCheckoutOnChain,
  PAID,
  type SignedPayment,
  type Signing,
} from './checkout.js';
import type { Kind } from './kinds.js';
import { answerOf, receiptOf } from './link-answers.js';

export interface Undecided {
  id: string;
  payment: SignedPayment;
}

/** Opens a checkout that answers 202 to a payment at once. */
export function openNoWaitCheckout(kind: Kind): Promise<Checkout & { chain: EvmChain }> {
  return openCheckoutOnChain({ SETTLE_WAIT_MS: '0' }, kind);
}

/** Pays, gets 202, and waits until the first call of /settle has ended. */
export async function payUnclearly(
  checkout: Checkout,
  behaviour: Behaviour,
  parts?: Signing,
  expiresInSeconds = 86_400,
): Promise<Undecided> {
  const { id } = await checkout.buildSession({ expiresAt: new Date(nowMs() + expiresInSeconds * 1000) });
  const payment = await checkout.sign(id, parts);
  checkout.facilitator.settle.next(behaviour);
  const res = await checkout.visit(id, { 'PAYMENT-SIGNATURE': payment.header });
  assert.equal(answerOf(res), '202 processing');
  await checkout.afterSettling(id);
  return { id, payment };
}

export async function assertCompletes(checkout: Checkout, { id, payment }: Undecided): Promise<void> {
  await checkout.becomes(id, PAID);
  const res = await checkout.visit(id);
  assert.equal(answerOf(res), '200 complete');
  const nonce = payment.payload.authorization.nonce;
  const moved = checkout.facilitator.ledger.filter(({ paymentId }) => paymentId === nonce);
  assert.equal(moved.length, 1);
  assert.equal(receiptOf(res)?.transaction, moved[0]?.transaction);
  assert.equal(receiptOf(res)?.payer, BUYER.address);
}

/** The buyer is told not to pay again, and the payment's name. */
export async function assertSaidToBeUncertain(checkout: Checkout, id: string, answer: string): Promise<void> {
  const res = await checkout.visit(id);
  assert.equal(answerOf(res), answer);
  const said = res.body.error.message ?? res.body.error;
  assert.match(said, /may have been taken.*Do not pay again before you have asked the merchant/);
  assert.ok(said.includes((await checkout.payment(id)).id), said);
  assert.doesNotMatch(said, /nothing was taken|no money moved/i);
}
