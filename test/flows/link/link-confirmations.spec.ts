import assert from 'node:assert/strict';
import { generatePrivateKey } from 'viem/accounts';
import type { EvmChain } from '../../../lab/world/chains/evm-chain.js';
import { altered, answers, type Behaviour, failsToSettle } from '../../../lab/world/facilitator/dial.js';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { advanceClock, nowMs, resetClock } from '../../../shared/process/clock.js';
import {
  BASE_SEPOLIA,
  BUYER,
  type Checkout,
  FAILED,
  openCheckoutOnChain,
  PAID,
  PROCESSING,
  type SignedPayment,
} from '../../support/checkout.js';
import { answerOf, receiptOf } from '../../support/link-answers.js';

describe('confirmations', () => {
  for (const [when, environment] of [
    ['by default', {}],
    ['when they are required on another network', { CONFIRMATIONS_EIP155_80002: '5' }],
  ] as const) {
    it(`are not required ${when}: the facilitator’s answer completes a payment, and no chain is read`, async () => {
      const checkout = await openCheckoutOnChain(environment);
      const { id } = await checkout.buildSession();
      assert.equal(answerOf(await checkout.pay(id)), '200 complete');
      assert.equal((await checkout.payment(id)).dueAt, null);
      assert.deepEqual(checkout.chain.endpoint.calls, new Map());
      await checkout.close();
    });
  }

  it('are waited for in the paying request, which is a 200 when both come in time', async () => {
    const checkout = await openCheckoutOnChain({ CONFIRMATIONS_EIP155_84532: '2', SETTLE_WAIT_MS: '15000' });
    checkout.facilitator.settle.next({
      answer: (honest) => {
        checkout.chain.mine();
        return honest ?? { status: 500, body: '' };
      },
    });
    const { id } = await checkout.buildSession();
    assert.equal(answerOf(await checkout.pay(id)), '200 complete');
    assert.deepEqual(await checkout.state(id), PAID);
    await checkout.close();
  });
});

describe('a payment that waits for two confirmations', () => {
  let checkout: Checkout & { chain: EvmChain };
  let chain: EvmChain;
  before(async () => {
    checkout = await openCheckoutOnChain({ CONFIRMATIONS_EIP155_84532: '2', SETTLE_WAIT_MS: '0' });
    chain = checkout.chain;
  });
  // The clock stays where a story has moved it, because blocks cannot go back in time.
  afterEach(async () => {
    chain.endpoint.recover();
    checkout.facilitator.settle.honest();
    await checkout.forgetWork();
  });
  after(async () => {
    await checkout.close();
    resetClock();
  });

  interface Waiting {
    id: string;
    payment: SignedPayment;
  }

  /** Pays: the answer is 202, and /settle has answered. */
  async function pay(behaviour: Behaviour = {}): Promise<Waiting> {
    const { id } = await checkout.buildSession({ expiresAt: new Date(nowMs() + 86_400_000) });
    const payment = await checkout.sign(id);
    checkout.facilitator.settle.next(behaviour);
    const res = await checkout.visit(id, { 'PAYMENT-SIGNATURE': payment.header });
    assert.equal(answerOf(res), '202 processing');
    await checkout.afterSettling(id);
    return { id, payment };
  }

  function passBlock(): void {
    chain.travel(2);
    chain.mine();
  }

  async function assertCompletes({ id, payment }: Waiting): Promise<void> {
    await checkout.becomes(id, PAID);
    const res = await checkout.visit(id);
    assert.equal(answerOf(res), '200 complete');
    const nonce = payment.payload.authorization.nonce;
    const moved = checkout.facilitator.ledger.find(({ paymentId }) => paymentId === nonce);
    assert.deepEqual(receiptOf(res), {
      success: true,
      transaction: moved?.transaction,
      network: BASE_SEPOLIA,
      payer: BUYER.address,
    });
  }

  it('is 202 until the chain shows them, then 200 with its transaction', async () => {
    const waiting = await pay();
    await checkout.afterNextCheck(waiting.id, 3);
    assert.equal(answerOf(await checkout.visit(waiting.id)), '202 processing');
    assert.deepEqual(await checkout.state(waiting.id), PROCESSING);
    chain.mine();
    advanceClock(2_000);
    await assertCompletes(waiting);
    assert.deepEqual(checkout.calls(waiting.payment), { verify: 1, settle: 1 });
    assert.notEqual((await checkout.payment(waiting.id)).proofIndex, null);
  });

  for (const [title, behaviour] of Object.entries<Behaviour>({
    'a transaction that does not exist': altered({ transaction: generatePrivateKey() }),
    'another payer': altered({ payer: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' }),
  })) {
    it(`is found on the chain when the facilitator named ${title}`, async () => {
      const waiting = await pay(behaviour);
      chain.mine(2);
      advanceClock(5_000);
      await assertCompletes(waiting);
    });
  }

  it('does not count a transfer whose block was reorganised away', async () => {
    const { id } = await pay();
    const transaction = checkout.facilitator.ledger.at(-1)?.transaction;
    assert.ok(transaction);
    chain.reorganise(`0x${transaction.slice(2)}`, 'kept');
    chain.mine(3);
    await checkout.afterNextCheck(id, 3);
    assert.deepEqual(await checkout.state(id), PROCESSING);
  });

  it('fails when its authorization was canceled, once that has its confirmations', async () => {
    const { id, payment } = await pay(saysSuccess());
    const { from, nonce } = payment.payload.authorization;
    chain.cancelAuthorization({ asset: payment.accepted.asset, from, nonce });
    await checkout.afterNextCheck(id, 3);
    assert.deepEqual(await checkout.state(id), PROCESSING);
    chain.mine();
    advanceClock(5_000);
    await checkout.becomes(id, FAILED);
    assert.equal(answerOf(await checkout.visit(id)), '402 invalid_transaction_state');
  });

  it("fails when the facilitator's success was false, once the authorization has ended", async () => {
    const { id } = await pay(saysSuccess());
    advanceClock(305_000);
    chain.mine(2);
    await checkout.becomes(id, FAILED);
    assert.equal(answerOf(await checkout.visit(id)), '402 unexpected_settle_error');
  });

  it('is never failed because the chain cannot be read', async () => {
    const waiting = await pay();
    chain.endpoint.fail('http_500');
    for (const seconds of [305, 3_600]) {
      await checkout.afterNextCheck(waiting.id, seconds);
      assert.deepEqual(await checkout.state(waiting.id), PROCESSING);
    }
    chain.endpoint.recover();
    chain.mine();
    advanceClock(31_000);
    await assertCompletes(waiting);
    assert.equal(checkout.calls(waiting.payment).settle, 1);
  });

  it('is never failed because the chain cannot be read, when the first answer was unclear', async () => {
    const waiting = await pay(
      answers(503, { success: false, errorReason: 'unknown_error', transaction: '' }),
    );
    passBlock();
    await checkout.afterNextCheck(waiting.id);
    await eventually(async () => {
      const { settleCalls, settleEndedAt } = await checkout.payment(waiting.id);
      assert.equal(settleCalls === 2 && settleEndedAt !== null, true);
    });
    // The facilitator has answered by now that it settled.
    chain.endpoint.fail('http_500');
    await checkout.afterNextCheck(waiting.id, 365);
    assert.deepEqual(await checkout.state(waiting.id), PROCESSING);
    chain.endpoint.recover();
    chain.mine();
    advanceClock(31_000);
    await assertCompletes(waiting);
  });

  /**
   * The facilitator has sent its transaction and reported success; the transaction takes a while to be mined. A
   * second call in the meantime reads a balance that the transaction will have reduced, or is not answered.
   */
  for (const [title, no] of Object.entries<Behaviour>({
    'says insufficient_funds': failsToSettle('insufficient_funds'),
    'answers 401': answers(401),
  })) {
    it(`does not fail when the facilitator said success and then ${title}`, async () => {
      const transaction = generatePrivateKey();
      const { id, payment } = await pay(saysSuccess(transaction));
      checkout.facilitator.settle.always(no);
      for (let round = 0; round < 2; round += 1) {
        await checkout.afterNextCheck(id, 31, passBlock);
      }
      assert.deepEqual(await checkout.state(id), PROCESSING);
      const { from, to, value, nonce } = payment.payload.authorization;
      const { asset } = payment.accepted;
      chain.movePayment({ asset, from, payTo: to, amount: BigInt(value), nonce }, transaction);
      chain.mine(2);
      advanceClock(31_000);
      await checkout.becomes(id, PAID);
      assert.equal(receiptOf(await checkout.visit(id))?.transaction, transaction);
    });
  }

  /** Reports success for a transaction that does not exist, or is not mined yet. */
  function saysSuccess(transaction: string = generatePrivateKey()): Behaviour {
    return answers(200, { success: true, transaction, network: BASE_SEPOLIA });
  }
});
