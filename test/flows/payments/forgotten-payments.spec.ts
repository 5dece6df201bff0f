import assert from 'node:assert/strict';
import { refuses } from '../../../lab/world/facilitator/dial.js';
import { Payable } from '../../../shared/payables/model.js';
import { Payment } from '../../../shared/payments/model.js';
import { advanceClock, resetClock } from '../../../shared/process/clock.js';
import { Event } from '../../../shared/webhooks/model.js';
import {
  openCheckoutOnChain,
  PAID,
  type SignedPayment,
  type Signing,
  UNTOUCHED,
} from '../../support/checkout.js';
import { forAllTests } from '../../support/hooks.js';
import { describeBothKinds } from '../../support/kinds.js';
import { answerOf } from '../../support/link-answers.js';

/** Facilitators' words for a used authorization, one of each kind; test/unit/x402/verify-answer.spec.ts has more. */
const SAID_OF_USED = ['invalid_exact_evm_nonce_already_used', 'insufficient_funds', 'a_word_of_tomorrow'];
/** Most unused authorizations get this word too. */
const SAID_OF_UNUSED = new Set(['insufficient_funds']);

describeBothKinds('a payment that Postgres has forgotten', (kind) => {
  const checkout = forAllTests(() => openCheckoutOnChain({}, kind));
  afterEach(() => {
    checkout.facilitator.verify.honest();
    checkout.chain.endpoint.recover();
  });

  async function send(id: string, { header }: SignedPayment): Promise<string> {
    return answerOf(await checkout.visit(id, { 'PAYMENT-SIGNATURE': header }));
  }

  async function payAndForget(
    signing?: (id: string) => Signing,
  ): Promise<{ id: string; payment: SignedPayment; transaction: string }> {
    const { id } = await checkout.buildSession();
    const payment = await checkout.sign(id, signing?.(id));
    assert.equal(await send(id, payment), '200 complete');
    const { transaction } = await checkout.payment(id);
    await forget(id);
    return { id, payment, transaction: transaction ?? '' };
  }

  /** Leaves the rows as a copy of the database has them that lacks all since the claim. */
  async function forget(id: string): Promise<void> {
    const { db } = checkout.app;
    await db.transaction(async (trx) => {
      await Payable.query(trx).patch({ status: 'open', paymentId: null }).where({ id });
      await trx.raw(
        'DELETE FROM webhook_deliveries USING events WHERE event_id = events.id AND payable_id = ?',
        [id],
      );
      await Event.query(trx).delete().where({ payableId: id });
      await Payment.query(trx).delete().where({ payableId: id });
    });
    assert.deepEqual(await checkout.state(id), UNTOUCHED);
  }

  describe('while Postgres may have lost commits', () => {
    beforeEach(() => {
      const { commits } = checkout.app;
      const { mayHaveLost } = commits;
      commits.mayHaveLost = () => true;
      known = () => {
        commits.mayHaveLost = mayHaveLost;
      };
    });
    afterEach(() => known());
    let known = (): void => {};

    for (const word of ['invalid_network', 'registration_required'])
      it(`completes by the chain's proof whatever /verify says: ${word}`, async () => {
        const { id, payment, transaction } = await payAndForget();
        checkout.facilitator.verify.next(refuses(word));
        assert.equal(await send(id, payment), '200 complete');
        assert.equal((await checkout.payment(id)).transaction, transaction);
      });

    it('is told as one that may have been taken while it is unused: a forgotten call may still send it', async () => {
      const { id } = await checkout.buildSession();
      const payment = await checkout.sign(id);
      checkout.facilitator.verify.next(refuses('insufficient_funds'));
      const res = await checkout.visit(id, { 'PAYMENT-SIGNATURE': payment.header });
      assert.equal(answerOf(res), '402 outcome_unknown');
      assert.match(res.body.error, /may have been taken.*Do not pay again/);
      assert.deepEqual(await checkout.state(id), UNTOUCHED);
    });

    it('is told as one that may have been taken when its link has expired', async () => {
      const { id, payment } = await payAndForget();
      for (const change of [{ expiresAt: new Date(0) }, { status: 'expired' as const }]) {
        await Payable.query(checkout.app.db).patch(change).where({ id });
        const res = await checkout.visit(id, { 'PAYMENT-SIGNATURE': payment.header });
        assert.equal(answerOf(res), '410 session_expired');
        assert.match(res.body.error.message, /may have been taken.*Do not pay again/);
        // A visit without a payment doubts nothing.
        assert.doesNotMatch((await checkout.visit(id)).body.error.message, /may have been taken/);
      }
      known();
      const res = await checkout.visit(id, { 'PAYMENT-SIGNATURE': payment.header });
      assert.equal(answerOf(res), '410 session_expired');
      assert.doesNotMatch(res.body.error.message, /may have been taken/);
    });

    it("completes by the chain's proof when it comes after its time", async () => {
      const { id, payment, transaction } = await payAndForget();
      const { verify } = checkout.calls(payment);
      advanceClock(301_000);
      assert.equal(await send(id, payment), '200 complete');
      assert.equal((await checkout.payment(id)).transaction, transaction);
      assert.equal(checkout.calls(payment).verify, verify);
      resetClock();
    });
  });

  for (const word of SAID_OF_USED) {
    it(`completes by the chain's proof when the same payload comes again and /verify says ${word}`, async () => {
      const { id, payment, transaction } = await payAndForget();
      const { verify, settle } = checkout.calls(payment);
      checkout.facilitator.verify.next(refuses(word));
      assert.equal(await send(id, payment), '200 complete');
      assert.deepEqual(await checkout.state(id), PAID);
      const paid = await checkout.payment(id);
      assert.deepEqual([paid.transaction, paid.proofIndex === null], [transaction, false]);
      assert.equal(paid.facilitator, new URL(checkout.facilitator.url).host);
      assert.deepEqual(checkout.calls(payment), { verify: verify + 1, settle }, 'no second /settle');
      assert.equal(await send(id, payment), '409 session_already_paid');
    });

    const words = SAID_OF_UNUSED.has(word) ? 'as a plain refusal' : 'as one that may have been taken';
    it(`is refused ${words} when /verify says ${word} and the chain cannot be read, and completes later`, async () => {
      const { id, payment } = await payAndForget();
      checkout.facilitator.verify.next(refuses(word));
      checkout.chain.endpoint.fail('http_500');
      const res = await checkout.visit(id, { 'PAYMENT-SIGNATURE': payment.header });
      assert.equal(res.status, 402);
      const isUncertain = /may have been taken.*Do not pay again/.test(res.body.error);
      assert.equal(isUncertain, !SAID_OF_UNUSED.has(word), res.body.error);
      assert.notEqual(res.body.code, 'outcome_unknown');
      assert.deepEqual(await checkout.state(id), UNTOUCHED);
      checkout.chain.endpoint.recover();
      assert.equal(await send(id, payment), '200 complete');
      assert.deepEqual(await checkout.state(id), PAID);
    });

    it(`is not seen in an unused payload of which /verify says ${word}: 402, and nothing is stored`, async () => {
      const { id } = await checkout.buildSession();
      const payment = await checkout.sign(id);
      checkout.facilitator.verify.next(refuses(word));
      const res = await checkout.visit(id, { 'PAYMENT-SIGNATURE': payment.header });
      assert.equal(res.status, 402);
      assert.doesNotMatch(res.body.error, /may have been taken/);
      assert.deepEqual(await checkout.state(id), UNTOUCHED);
      assert.equal(await send(id, payment), '200 complete');
    });
  }

  it('completes once when the same payload comes twice at once', async () => {
    const { id, payment } = await payAndForget();
    const answers = await Promise.all([send(id, payment), send(id, payment), send(id, payment)]);
    for (const answer of answers) assert.match(answer, /^(200 complete|202 processing|409 \w+)$/);
    assert.ok(answers.includes('200 complete'), answers.join());
    assert.deepEqual(await checkout.state(id), PAID);
    const { nonce } = payment.payload.authorization;
    assert.equal(checkout.facilitator.ledger.filter(({ paymentId }) => paymentId === nonce).length, 1);
  });

  it('is not looked for when /verify says what a used payload never gets', async () => {
    const { id } = await checkout.buildSession();
    checkout.chain.endpoint.calls.clear();
    checkout.facilitator.verify.next(refuses('kyt_risk_detected'));
    assert.equal(answerOf(await checkout.pay(id)), '402 kyt_risk_detected');
    assert.equal(checkout.chain.endpoint.callsOf('eth_call'), 0);
  });

  it('does not complete another session by the transfer that it made', async () => {
    const { id, payment } = await payAndForget();
    assert.equal(await send(id, payment), '200 complete');
    const other = await checkout.buildSession();
    assert.equal(await send(other.id, payment), '409 signature_already_used');
    assert.deepEqual(await checkout.state(other.id), UNTOUCHED);
  });

  it('completes the session that its nonce names, and no other to which somebody sends it', async () => {
    const { references } = checkout.app;
    const { id, payment } = await payAndForget((own) => ({ nonce: references.nonceOf(own) }));
    const other = await checkout.buildSession();
    const refused = await checkout.visit(other.id, { 'PAYMENT-SIGNATURE': payment.header });
    assert.equal(refused.status, 402);
    assert.match(String(refused.body.error), /Do not pay again/);
    assert.equal(await send(id, payment), '200 complete');
    assert.deepEqual(await checkout.state(other.id), UNTOUCHED);
  });
});
