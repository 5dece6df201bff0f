import assert from 'node:assert/strict';
import type { EvmChain } from '../../../lab/world/chains/evm-chain.js';
import {
  altered,
  answers,
  answersHtml,
  type Behaviour,
  breaksBeforeWork,
  failsAfterWork,
  failsToSettle,
} from '../../../lab/world/facilitator/dial.js';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { advanceClock, nowMs, resetClock } from '../../../shared/process/clock.js';
import { type Checkout, FAILED, PAID, PROCESSING } from '../../support/checkout.js';
import { describeBothKinds } from '../../support/kinds.js';
import { answerOf } from '../../support/link-answers.js';
import {
  assertCompletes,
  assertSaidToBeUncertain,
  openNoWaitCheckout,
  payUnclearly,
} from '../../support/unclear-settle.js';

const HASH = `0x${'ab'.repeat(32)}`;
const UNKNOWN = { session: 'expired', payments: ['failed'], events: ['checkout.session.expired'] };
/** The call does nothing, and the facilitator's own answer leaves the outcome unknown. */
const BREAKS = answers(503, { success: false, errorReason: 'unknown_error', transaction: '' });
/** Answers that do not say that the call has ended; test/unit/x402/settle-answer-unknown.spec.ts has every one. */
const GATEWAYS: Record<string, Behaviour> = {
  'after a broken connection': breaksBeforeWork(),
  'after the timeout of a gateway': answersHtml(504),
};

describeBothKinds('an unclear answer of /settle', (kind) => {
  let checkout: Checkout & { chain: EvmChain };
  let chain: EvmChain;

  /** Adds a block that is later than everything so far. */
  function passBlock(): void {
    advanceClock(2000);
    chain.mine();
  }

  before(async () => {
    checkout = await openNoWaitCheckout(kind);
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

  it('keeps the session: 202 to a GET, 409 to a payment, and the signature counts as used', async () => {
    const undecided = await payUnclearly(checkout, failsAfterWork(500));
    chain.endpoint.fail('hang');
    assert.equal(answerOf(await checkout.visit(undecided.id)), '202 processing');
    const { header } = undecided.payment;
    const again = await checkout.visit(undecided.id, { 'PAYMENT-SIGNATURE': header });
    assert.equal(answerOf(again), '409 processing');
    const { id } = await checkout.buildSession();
    const elsewhere = await checkout.visit(id, { 'PAYMENT-SIGNATURE': header });
    assert.equal(answerOf(elsewhere), '409 signature_already_used');
    assert.deepEqual(await checkout.state(undecided.id), PROCESSING);
    chain.endpoint.recover();
    advanceClock(60_000);
    await assertCompletes(checkout, undecided);
  });

  it('is not resolved by a transaction of another payment', async () => {
    const first = await payUnclearly(checkout, failsAfterWork(500));
    await assertCompletes(checkout, first);
    const transaction = checkout.facilitator.ledger.at(-1)?.transaction ?? '';
    const second = await payUnclearly(checkout, failsToSettle('settlement_pending', transaction));
    passBlock();
    await checkout.afterNextCheck(second.id);
    assert.deepEqual(await checkout.state(second.id), PROCESSING);
    advanceClock(31_000);
    passBlock();
    await assertCompletes(checkout, second);
    assert.deepEqual(checkout.calls(second.payment), { verify: 1, settle: 2 });
  });

  describe('is followed by another /settle when the chain says that no money has moved,', () => {
    it('after HTTP 503 with a verdict', async () => {
      const undecided = await payUnclearly(checkout, BREAKS);
      passBlock();
      await assertCompletes(checkout, undecided);
      assert.deepEqual(checkout.calls(undecided.payment), { verify: 1, settle: 2 });
    });

    for (const [title, behaviour] of Object.entries(GATEWAYS)) {
      it(`${title}, once the facilitator can no longer be processing the call`, async () => {
        const undecided = await payUnclearly(checkout, behaviour);
        passBlock();
        await checkout.afterNextCheck(undecided.id);
        assert.deepEqual(checkout.calls(undecided.payment), { verify: 1, settle: 1 });
        // The timeout of 30 s and 30 s more are not over.
        await checkout.afterNextCheck(undecided.id, 45, passBlock);
        assert.deepEqual(checkout.calls(undecided.payment), { verify: 1, settle: 1 });
        advanceClock(61_000);
        passBlock();
        await assertCompletes(checkout, undecided);
        assert.deepEqual(checkout.calls(undecided.payment), { verify: 1, settle: 2 });
      });
    }

    it('but only by a block that is later than the end of the call', async () => {
      const undecided = await payUnclearly(checkout, BREAKS);
      await checkout.afterNextCheck(undecided.id);
      assert.deepEqual(checkout.calls(undecided.payment), { verify: 1, settle: 1 });
      passBlock();
      advanceClock(5_000);
      await assertCompletes(checkout, undecided);
      assert.deepEqual(checkout.calls(undecided.payment), { verify: 1, settle: 2 });
    });

    for (const [title, no] of Object.entries<Behaviour>({
      insufficient_funds: failsToSettle('insufficient_funds'),
      'HTTP 401': answers(401),
    })) {
      it(`and an answer of ${title} to it decides nothing: 202 until the authorization has ended`, async () => {
        const { id, payment } = await payUnclearly(checkout, BREAKS);
        checkout.facilitator.settle.always(no);
        passBlock();
        await eventually(async () => {
          const { settleCalls, settleEndedAt } = await checkout.payment(id);
          assert.equal(settleCalls >= 2 && settleEndedAt !== null, true);
        });
        assert.deepEqual(await checkout.state(id), PROCESSING);
        advanceClock(305_000);
        chain.mine();
        await checkout.becomes(id, FAILED);
        assert.equal(answerOf(await checkout.visit(id)), '402 unexpected_settle_error');
        assert.ok(checkout.calls(payment).settle <= 6);
      });
    }
  });

  it('that named a transaction is followed by another /settle after 30 s', async () => {
    const undecided = await payUnclearly(checkout, failsToSettle('settlement_pending', HASH));
    passBlock();
    await checkout.afterNextCheck(undecided.id);
    assert.equal(checkout.calls(undecided.payment).settle, 1);
    advanceClock(31_000);
    passBlock();
    await assertCompletes(checkout, undecided);
    assert.equal(checkout.calls(undecided.payment).settle, 2);
  });

  describe('is decided by the end of the authorization:', () => {
    it('failed once a block is later than the end, and reported', async () => {
      const { id } = await payUnclearly(checkout, failsToSettle('settlement_pending', HASH));
      await checkout.afterNextCheck(id, 296, () => chain.mine());
      assert.deepEqual(await checkout.state(id), PROCESSING);
      // The clock is past the end; the newest block is not.
      await checkout.afterNextCheck(id, 30);
      assert.deepEqual(await checkout.state(id), PROCESSING);
      chain.mine();
      advanceClock(31_000);
      await checkout.becomes(id, FAILED);
      assert.equal(answerOf(await checkout.visit(id)), '402 unexpected_settle_error');
      assert.equal(answerOf(await checkout.pay(id)), '202 processing');
      await eventually(async () => assert.equal((await checkout.session(id)).status, 'complete'));
    });

    it('failed at once when the payer has canceled the authorization', async () => {
      const { id, payment } = await payUnclearly(checkout, failsToSettle('settlement_pending', HASH));
      const { from, nonce } = payment.payload.authorization;
      chain.cancelAuthorization({ asset: payment.accepted.asset, from, nonce });
      await checkout.becomes(id, FAILED);
      assert.equal(answerOf(await checkout.visit(id)), '402 invalid_transaction_state');
    });

    it('failed by two checks after 15 minutes when the end is far away, and watched from then on', async () => {
      const validBefore = BigInt(Math.floor(nowMs() / 1000) + 3600);
      const { id } = await payUnclearly(checkout, failsToSettle('settlement_pending', HASH), {
        validBefore,
      });
      const first = await checkout.afterNextCheck(id, 901, () => chain.mine());
      assert.notEqual(first.unusedSeenAt, null);
      assert.deepEqual(await checkout.state(id), PROCESSING);
      advanceClock(16_000);
      chain.mine();
      await checkout.becomes(id, FAILED);
      assert.equal((await checkout.payment(id)).stage, 'watch');
      await assertSaidToBeUncertain(checkout, id, '402 outcome_unknown');
    });
  });

  describe('while the chain cannot be read', () => {
    beforeEach(() => chain.endpoint.fail('http_500'));

    it('is followed by another /settle when /verify says that no money has moved', async () => {
      const undecided = await payUnclearly(checkout, BREAKS);
      await checkout.becomes(undecided.id, PAID);
      assert.deepEqual(checkout.calls(undecided.payment), { verify: 2, settle: 2 });
    });

    it('is not followed by another /settle when /verify does not answer that', async () => {
      checkout.facilitator.verify.next({}, answers(500));
      const ended = altered({ success: false, errorReason: 'unknown_error', transaction: '' }, 500);
      const { id, payment } = await payUnclearly(checkout, ended);
      await checkout.afterNextCheck(id);
      assert.deepEqual(checkout.calls(payment), { verify: 2, settle: 1 });
      await checkout.afterNextCheck(id, 5);
      assert.deepEqual(checkout.calls(payment), { verify: 3, settle: 1 });
      assert.deepEqual(await checkout.state(id), PROCESSING);
      chain.endpoint.recover();
      advanceClock(10_000);
      await checkout.becomes(id, PAID);
    });

    it('is not decided by time for a day; then nobody knows, and a transfer that is found later completes the session', async () => {
      const { id } = await payUnclearly(checkout, failsAfterWork(500), {}, 300);
      for (const seconds of [299, 60]) {
        await checkout.afterNextCheck(id, seconds);
        assert.deepEqual(await checkout.state(id), PROCESSING);
        assert.equal(answerOf(await checkout.visit(id)), '202 processing');
      }
      await stillUndecidedBeforeADay(id);
      await checkout.becomes(id, UNKNOWN);
      assert.equal((await checkout.payment(id)).failureCode, 'outcome_unknown');
      await assertSaidToBeUncertain(checkout, id, '410 session_expired');
      chain.endpoint.recover();
      advanceClock(3_601_000);
      await eventually(async () => {
        await checkout.enqueueDueWork(id);
        assert.equal((await checkout.session(id)).status, 'complete');
      });
      assert.equal(answerOf(await checkout.visit(id)), '200 complete');
    });

    it('is not decided by one failed check, even when it is the first one long after the end', async () => {
      const { id } = await payUnclearly(checkout, failsAfterWork(500));
      await checkout.afterNextCheck(id, 600);
      assert.deepEqual(await checkout.state(id), PROCESSING);
      chain.endpoint.recover();
      advanceClock(31_000);
      await checkout.becomes(id, PAID);
    });

    it('is not decided by two failed checks with a successful one in between', async () => {
      const { id } = await payUnclearly(checkout, failsAfterWork(500));
      assert.notEqual((await checkout.afterNextCheck(id, 200)).unreadableSince, null);
      chain.endpoint.recover();
      // A node that does not have the transfer yet.
      Object.assign(chain, { hidesLogs: true, authorizationStateLie: false });
      const read = await checkout.afterNextCheck(id, 92, () => chain.mine());
      assert.equal(read.unreadableSince, null);
      Object.assign(chain, { hidesLogs: false, authorizationStateLie: undefined });
      chain.endpoint.fail('http_500');
      await checkout.afterNextCheck(id, 300);
      assert.deepEqual(await checkout.state(id), PROCESSING);
    });

    it('is not decided by 15 minutes when the end is far away, but by a day, as unknown', async () => {
      const validBefore = BigInt(Math.floor(nowMs() / 1000) + 200_000);
      const { id } = await payUnclearly(checkout, failsAfterWork(500), { validBefore }, 250_000);
      for (const seconds of [840, 75, 60]) {
        await checkout.afterNextCheck(id, seconds);
        assert.deepEqual(await checkout.state(id), PROCESSING);
      }
      await stillUndecidedBeforeADay(id);
      await checkout.becomes(id, FAILED);
      assert.equal((await checkout.payment(id)).stage, 'watch');
      await assertSaidToBeUncertain(checkout, id, '402 outcome_unknown');
    });
  });

  /** After almost a day in which no check could read the chain, nothing is decided. Then the day is over and a check is due. */
  async function stillUndecidedBeforeADay(id: string): Promise<void> {
    await silentFor(id, 86_000);
    await checkout.afterNextCheck(id);
    assert.deepEqual(await checkout.state(id), PROCESSING);
    await silentFor(id, 86_400);
  }

  async function silentFor(id: string, seconds: number): Promise<void> {
    const payment = await checkout.payment(id);
    assert.notEqual(payment.unreadableSince, null);
    const unreadableSince = new Date(nowMs() - seconds * 1000);
    await payment.$query(checkout.app.db).patch({ unreadableSince, dueAt: new Date(nowMs()) });
  }
});
