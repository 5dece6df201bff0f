import assert from 'node:assert/strict';
import type { EvmChain } from '../../lab/world/chains/evm-chain.js';
import {
  answers,
  answersHtml,
  type Behaviour,
  breaksBeforeWork,
  failsAfterWork,
  failsToSettle,
} from '../../lab/world/facilitator/dial.js';
import { eventually } from '../../lab/world/processes/eventually.js';
import { advanceClock, nowMs, resetClock } from '../../shared/process/clock.js';
import type { Checkout } from '../support/checkout.js';
import { describeBothKinds } from '../support/kinds.js';
import { told } from '../support/link-answers.js';
import { assertCompletes, openHastyCheckout, PAID, payUnclearly } from '../support/unclear-settle.js';

const HASH = `0x${'ab'.repeat(32)}`;
const PROCESSING = { session: 'processing', payments: ['processing'], events: [] };
const FAILED = { session: 'open', payments: ['failed'], events: [] };
/** Nothing is done, and nobody is told what happened. */
const BREAKS = answersHtml(503);

describeBothKinds('an unclear answer of /settle', (kind) => {
  let checkout: Checkout & { chain: EvmChain };
  let chain: EvmChain;

  /** A block that is later than everything that has happened. */
  function passBlock(): void {
    chain.travel(2);
    chain.mine();
  }

  describe('afterwards', () => {
    // Each on a chain of its own: blocks do not travel back.
    beforeEach(async () => {
      checkout = await openHastyCheckout(kind);
      chain = checkout.chain;
    });
    afterEach(async () => {
      resetClock();
      await checkout.close();
    });

    it('keeps the session: 202 to a GET, 409 to a payment, the signature used', async () => {
      const undecided = await payUnclearly(checkout, failsAfterWork(500));
      chain.endpoint.fail('hang');
      assert.equal(told(await checkout.visit(undecided.id)), '202 processing');
      const { header } = undecided.payment;
      const again = await checkout.visit(undecided.id, { 'PAYMENT-SIGNATURE': header });
      assert.equal(told(again), '409 processing');
      const { id } = await checkout.buildSession();
      const elsewhere = await checkout.visit(id, { 'PAYMENT-SIGNATURE': header });
      assert.equal(told(elsewhere), '409 signature_already_used');
      assert.deepEqual(await checkout.state(undecided.id), PROCESSING);
      chain.endpoint.recover();
      advanceClock(60_000);
      await assertCompletes(checkout, undecided);
    });

    it('does not believe a transaction that moved another payment’s money', async () => {
      const first = await payUnclearly(checkout, failsAfterWork(500));
      await assertCompletes(checkout, first);
      const transaction = checkout.facilitator.ledger.at(-1)?.transaction ?? '';
      const second = await payUnclearly(checkout, failsToSettle('settlement_pending', transaction));
      passBlock();
      await checkout.afterAnotherLook(second.id);
      assert.deepEqual(await checkout.state(second.id), PROCESSING);
      advanceClock(31_000);
      passBlock();
      await assertCompletes(checkout, second);
      assert.deepEqual(checkout.calls(second.payment), { verify: 1, settle: 2 });
    });

    describe('is settled again when the chain says that nothing has moved,', () => {
      it('after HTTP 503', async () => {
        const undecided = await payUnclearly(checkout, BREAKS);
        passBlock();
        await assertCompletes(checkout, undecided);
        assert.deepEqual(checkout.calls(undecided.payment), { verify: 1, settle: 2 });
      });

      for (const [title, behaviour] of Object.entries<Behaviour>({
        'after a connection that broke': breaksBeforeWork(),
        'after a gateway that gave up': answersHtml(504),
      })) {
        it(`${title}, when the facilitator surely is no longer at it`, async () => {
          const undecided = await payUnclearly(checkout, behaviour);
          passBlock();
          await checkout.afterAnotherLook(undecided.id);
          assert.deepEqual(checkout.calls(undecided.payment), { verify: 1, settle: 1 });
          advanceClock(61_000);
          passBlock();
          await assertCompletes(checkout, undecided);
          assert.deepEqual(checkout.calls(undecided.payment), { verify: 1, settle: 2 });
        });
      }

      it('but only in a block that is later than the end of the call', async () => {
        const undecided = await payUnclearly(checkout, BREAKS);
        await checkout.afterAnotherLook(undecided.id);
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
        it(`and ${title} to that proves nothing: 202 until the authorization is over`, async () => {
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
          assert.equal(told(await checkout.visit(id)), '402 unexpected_settle_error');
          assert.ok(checkout.calls(payment).settle <= 6);
        });
      }
    });

    it('that named a transaction gives it half a minute to land before it is settled again', async () => {
      const undecided = await payUnclearly(checkout, failsToSettle('settlement_pending', HASH));
      passBlock();
      await checkout.afterAnotherLook(undecided.id);
      assert.equal(checkout.calls(undecided.payment).settle, 1);
      advanceClock(31_000);
      passBlock();
      await assertCompletes(checkout, undecided);
      assert.equal(checkout.calls(undecided.payment).settle, 2);
    });

    describe('is decided by the end of the authorization:', () => {
      it('not before a block is later than it, then failed, and told', async () => {
        const { id } = await payUnclearly(checkout, failsToSettle('settlement_pending', HASH));
        await checkout.afterAnotherLook(id, 296, () => chain.mine());
        assert.deepEqual(await checkout.state(id), PROCESSING);
        // Our clock is past it; the newest block is not.
        await checkout.afterAnotherLook(id, 30);
        assert.deepEqual(await checkout.state(id), PROCESSING);
        chain.mine();
        advanceClock(31_000);
        await checkout.becomes(id, FAILED);
        assert.equal(told(await checkout.visit(id)), '402 unexpected_settle_error');
        assert.equal(told(await checkout.pay(id)), '202 processing');
        await eventually(async () => assert.equal((await checkout.session(id)).status, 'complete'));
      });

      it('failed at once when the payer has cancelled it', async () => {
        const { id, payment } = await payUnclearly(checkout, failsToSettle('settlement_pending', HASH));
        const { from, nonce } = payment.payload.authorization;
        chain.cancelAuthorization({ asset: payment.accepted.asset, from, nonce });
        await checkout.becomes(id, FAILED);
        assert.equal(told(await checkout.visit(id)), '402 invalid_transaction_state');
      });

      it('or, when that is far away, by two looks a quarter of an hour later, and watched on', async () => {
        const validBefore = BigInt(Math.floor(nowMs() / 1000) + 3600);
        const { id } = await payUnclearly(checkout, failsToSettle('settlement_pending', HASH), {
          validBefore,
        });
        const first = await checkout.afterAnotherLook(id, 901, () => chain.mine());
        assert.notEqual(first.unusedSeenAt, null);
        assert.deepEqual(await checkout.state(id), PROCESSING);
        advanceClock(16_000);
        chain.mine();
        await checkout.becomes(id, FAILED);
        assert.equal((await checkout.payment(id)).stage, 'watch');
        assert.equal(told(await checkout.visit(id)), '402 unexpected_settle_error');
      });
    });

    describe('while the chain cannot be read', () => {
      beforeEach(() => chain.endpoint.fail('http_500'));

      it('is settled again when /verify says that nothing has moved', async () => {
        const undecided = await payUnclearly(checkout, BREAKS);
        await checkout.becomes(undecided.id, PAID);
        assert.deepEqual(checkout.calls(undecided.payment), { verify: 2, settle: 2 });
      });

      it('is not settled again when /verify does not say so', async () => {
        checkout.facilitator.verify.next({}, answers(500));
        const { id, payment } = await payUnclearly(checkout, failsAfterWork(500));
        await checkout.afterAnotherLook(id);
        assert.deepEqual(checkout.calls(payment), { verify: 2, settle: 1 });
        await checkout.afterAnotherLook(id, 5);
        assert.deepEqual(checkout.calls(payment), { verify: 3, settle: 1 });
        assert.deepEqual(await checkout.state(id), PROCESSING);
        chain.endpoint.recover();
        advanceClock(10_000);
        await checkout.becomes(id, PAID);
      });

      /** Looks after so many seconds each; one that comes long after it was due would begin the silence anew. */
      async function listenInVain(id: string, pauses: readonly number[]): Promise<void> {
        for (const seconds of pauses) {
          await checkout.afterAnotherLook(id, seconds);
          assert.deepEqual(await checkout.state(id), PROCESSING);
        }
      }

      it('is decided a minute after the authorization’s end; money that is seen later completes the session', async () => {
        const { id } = await payUnclearly(checkout, failsAfterWork(500));
        await listenInVain(id, [299, 14, 14, 14, 14]);
        assert.equal(told(await checkout.visit(id)), '202 processing');
        advanceClock(14_000);
        await checkout.becomes(id, FAILED);
        assert.equal(told(await checkout.visit(id)), '402 unexpected_settle_error');
        chain.endpoint.recover();
        advanceClock(3_601_000);
        await checkout.becomes(id, PAID);
        assert.equal(told(await checkout.visit(id)), '200 complete');
      });

      it('is not decided by one bad moment of the endpoint, though nobody had looked until long after its end', async () => {
        const { id } = await payUnclearly(checkout, failsAfterWork(500));
        await checkout.afterAnotherLook(id, 600);
        assert.deepEqual(await checkout.state(id), PROCESSING);
        chain.endpoint.recover();
        advanceClock(31_000);
        await checkout.becomes(id, PAID);
      });

      it('nor by two, when it could be read in between', async () => {
        const { id } = await payUnclearly(checkout, failsAfterWork(500));
        assert.notEqual((await checkout.afterAnotherLook(id, 200)).unreadableSince, null);
        chain.endpoint.recover();
        // A node that does not know the transfer yet.
        Object.assign(chain, { hidesLogs: true, authorizationStateLie: false });
        const read = await checkout.afterAnotherLook(id, 92, () => chain.mine());
        assert.equal(read.unreadableSince, null);
        Object.assign(chain, { hidesLogs: false, authorizationStateLie: undefined });
        chain.endpoint.fail('http_500');
        await checkout.afterAnotherLook(id, 300);
        assert.deepEqual(await checkout.state(id), PROCESSING);
      });

      it('is decided after a quarter of an hour when its end is far away', async () => {
        const validBefore = BigInt(Math.floor(nowMs() / 1000) + 7200);
        const { id } = await payUnclearly(checkout, failsAfterWork(500), { validBefore });
        await listenInVain(id, [840, 14, 14, 14, 14]);
        advanceClock(14_000);
        await checkout.becomes(id, FAILED);
        assert.equal((await checkout.payment(id)).stage, 'watch');
      });
    });
  });
});
