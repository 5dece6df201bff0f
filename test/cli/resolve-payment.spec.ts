import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { EvmChain } from '../../lab/world/chains/evm-chain.js';
import { buildRefund, buildUndecidedPayment } from '../../lab/world/shop/factories.js';
import { Payable } from '../../shared/payables/model.js';
import { Payment } from '../../shared/payments/model.js';
import { Event } from '../../shared/webhooks/model.js';
import { openCheckout, PAID, PROCESSING, type SignedPayment } from '../support/checkout.js';
import { assertRefused, runCommand, runJson } from '../support/cli.js';
import { useCliDatabase } from '../support/cli-database.js';
import { useEnvironment } from '../support/environment.js';
import { forAllTests } from '../support/hooks.js';

describe('operators resolving payments', () => {
  const chain = forAllTests(() => EvmChain.start(84532));
  const network = () => ({ RPC_URL_EIP155_84532: chain.endpoint.url });
  useCliDatabase();
  useEnvironment(network);
  const checkout = forAllTests(() =>
    openCheckout({ worker: false, environment: { ...network(), SETTLE_WAIT_MS: '0' } }),
  );
  afterEach(() => chain.endpoint.recover());

  const OVER: Partial<Payment> = { validUntil: new Date(Date.now() - 120_000) };

  async function buildUndecided(
    overrides: Partial<Payment> = OVER,
  ): Promise<{ sessionId: string; paymentId: string }> {
    const { accountId } = checkout.merchant;
    const { session, payment } = await buildUndecidedPayment(checkout.app.db, accountId, overrides);
    return { sessionId: session.id, paymentId: payment.id };
  }

  interface Claimed {
    sessionId: string;
    paymentId: string;
    signed: SignedPayment;
  }

  async function claim(): Promise<Claimed> {
    const { id: sessionId } = await checkout.buildSession();
    const signed = await checkout.sign(sessionId);
    const res = await checkout.visit(sessionId, { 'PAYMENT-SIGNATURE': signed.header });
    assert.equal(res.status, 202);
    return { sessionId, paymentId: (await checkout.payment(sessionId)).id, signed };
  }

  /** Lands the transfer of a claimed payment; returns the transaction. */
  function land({ signed: { accepted, payload } }: Claimed): string {
    const { from, to, value, nonce } = payload.authorization;
    return chain.movePayment({ asset: accepted.asset, from, payTo: to, amount: BigInt(value), nonce });
  }

  async function assertUntouched({ sessionId }: Claimed): Promise<void> {
    const processing = PROCESSING;
    assert.deepEqual(await checkout.state(sessionId), processing);
  }

  it('list undecided payments, and show one with its attempts and window but without its signature', async () => {
    const { sessionId, paymentId } = await buildUndecided();
    const { payments } = await runJson('payments', '--undecided');
    assert.ok(payments.some(({ id }) => id === paymentId));
    const shown = await runJson('show-payment', paymentId);
    assert.equal(shown.checkout_session, sessionId);
    assert.equal(shown.status, 'processing');
    assert.ok(shown.valid_until > 0);
    assert.deepEqual(shown.history, []);
    assert.ok(!JSON.stringify(shown).includes('secret-signature'));
  });

  it('resolve one as paid: session complete, one event, and a line in the log', async () => {
    const { sessionId, paymentId } = await buildUndecided();
    const transaction = `0x${randomBytes(32).toString('hex')}`;
    const command = ['resolve-payment', paymentId, '--paid', transaction, '--even-if-not-seen', '--json'];
    const { stdout, stderr } = await runCommand(...command);
    assert.equal(JSON.parse(stdout).status, 'succeeded');
    assert.match(stderr, /"event":"payment.resolved_by_operator"/);
    const session = await checkout.session(sessionId);
    assert.equal(session.status, 'complete');
    assert.equal(session.paymentId, paymentId);
    assert.deepEqual(await checkout.events(sessionId), ['checkout.session.completed']);
  });

  it('show the refunds of a payment, and resolve the payment of a refund', async () => {
    const { db } = checkout.app;
    const transaction = `0x${randomBytes(32).toString('hex')}`;
    const { accountId } = checkout.merchant;
    const refund = await buildRefund(db, accountId);
    const shown = await runJson('show-payment', refund.refundedPaymentId ?? '');
    const [own, ...others] = shown.refunds;
    assert.deepEqual([own?.id, own?.status, own?.amount, others], [refund.id, 'requires_action', 450, []]);

    const { payment, session } = await buildUndecidedPayment(db, accountId, { payableId: refund.id });
    await Payable.query(db).patch({ status: 'processing', paymentId: payment.id }).where({ id: refund.id });
    await Payable.query(db).patch({ status: 'open', paymentId: null }).where({ id: session.id });
    const { payments } = await runJson('payments', '--undecided');
    assert.ok(payments.some((one) => one.refund === refund.id));
    const resolved = await runJson(
      'resolve-payment',
      payment.id,
      '--paid',
      transaction,
      '--even-if-not-seen',
    );
    assert.deepEqual([resolved.status, resolved.refund], ['succeeded', refund.id]);
    assert.equal('checkout_session' in resolved, false);
    const { refunds } = await runJson('show-payment', refund.refundedPaymentId ?? '');
    assert.deepEqual(
      refunds.map((one) => [one.status, one.transaction]),
      [['succeeded', transaction]],
    );
    const events = await Event.query(db).where({ payableId: refund.id });
    assert.deepEqual(
      events.map(({ type }) => type),
      ['refund.updated'],
    );
  });

  describe('resolve one as paid', () => {
    it('by the transaction that the chain shows, in any case', async () => {
      const claimed = await claim();
      const transaction = land(claimed);
      const shown = `0x${transaction.slice(2).toUpperCase()}`;
      const { status } = await runJson('resolve-payment', claimed.paymentId, '--paid', shown);
      assert.equal(status, 'succeeded');
      const paid = await checkout.payment(claimed.sessionId);
      assert.deepEqual([paid.transaction, (paid.proofIndex ?? -1) >= 0], [transaction, true]);
      assert.deepEqual(await checkout.state(claimed.sessionId), PAID);
    });

    it('not by one that the chain does not show', async () => {
      const claimed = await claim();
      for (const transaction of ['deadbeef', `0x${'de'.repeat(32)}`]) {
        const words = /does not show that .* pays pay_.*unused.*--even-if-not-seen/;
        await assertRefused(words, 'resolve-payment', claimed.paymentId, '--paid', transaction);
      }
      land(claimed);
      const words = /does not show that deadbeef pays pay_.*paid in 0x/;
      await assertRefused(words, 'resolve-payment', claimed.paymentId, '--paid', 'deadbeef');
      await assertUntouched(claimed);
    });

    it('not while the chain cannot be read', async () => {
      const claimed = await claim();
      const transaction = land(claimed);
      chain.endpoint.fail('http_500');
      await assertRefused(/not readable/, 'resolve-payment', claimed.paymentId, '--paid', transaction);
      await assertUntouched(claimed);
    });

    it("never by another payment's transaction, recorded or not", async () => {
      const [paid, unrecorded, claimed] = [await claim(), await claim(), await claim()];
      const transaction = land(paid);
      await runJson('resolve-payment', paid.paymentId, '--paid', transaction);
      for (const more of [[], ['--even-if-not-seen']]) {
        for (const spelling of [transaction, `0x${transaction.slice(2).toUpperCase()}`]) {
          const words = /paid another payment, not pay_/;
          await assertRefused(words, 'resolve-payment', claimed.paymentId, '--paid', spelling, ...more);
        }
      }
      const other = land(unrecorded);
      await assertRefused(/does not show/, 'resolve-payment', claimed.paymentId, '--paid', other);
      await assertUntouched(claimed);
    });

    it("never by another payment's transaction in other letters", async () => {
      const [typed, stored, claimed] = [await claim(), await claim(), await claim()];
      const byHash = (id: string) => ['resolve-payment', id, '--even-if-not-seen', '--paid'] as const;
      const [hash, old] = [randomBytes(32).toString('hex'), randomBytes(32).toString('hex')];
      await runJson(...byHash(typed.paymentId), `0x${hash.toUpperCase()}`);
      assert.equal((await checkout.payment(typed.sessionId)).transaction, `0x${hash}`);
      const ofOldRow = { transaction: `0x${old.toUpperCase()}` };
      await Payment.query(checkout.app.db).patch(ofOldRow).where({ id: stored.paymentId });
      for (const spelling of [`0x${hash}`, `0x${hash.toUpperCase()}`, hash, `0x${old}`])
        await assertRefused(/paid another payment/, ...byHash(claimed.paymentId), spelling);
      await assertUntouched(claimed);
    });

    it('by a transaction that nobody sees, with --even-if-not-seen', async () => {
      const claimed = await claim();
      const words = ['--paid', 'deadbeef', '--even-if-not-seen'];
      const { status } = await runJson('resolve-payment', claimed.paymentId, ...words);
      assert.equal(status, 'succeeded');
      assert.equal((await checkout.session(claimed.sessionId)).status, 'complete');
    });
  });

  /** Claims a payment whose authorization is over, by the clocks. */
  async function claimOver(): Promise<Claimed> {
    const claimed = await claim();
    await Payment.query(checkout.app.db).patch(OVER).where('id', claimed.paymentId);
    return claimed;
  }

  it('do not fail a payment of which the chain does not show that it never can arrive', async () => {
    const claimed = await claimOver();
    const failed = ['resolve-payment', claimed.paymentId, '--failed', '--reason', 'no'] as const;
    await assertRefused(/can still arrive: its chain says: unused\./, ...failed);
    chain.endpoint.fail('http_500');
    await assertRefused(/can still arrive: its chain says: not readable/, ...failed);
    chain.endpoint.recover();
    const transaction = land(claimed);
    await assertRefused(new RegExp(`can still arrive: its chain says: paid in ${transaction}`), ...failed);
    await assertUntouched(claimed);
  });

  it('resolve one as failed: session open again, reason kept, late money still watched', async () => {
    const { sessionId, paymentId } = await claimOver();
    chain.travel(3600);
    chain.mine();
    const resolved = await runJson('resolve-payment', paymentId, '--failed', '--reason', 'buyer_complained');
    assert.equal(resolved.status, 'failed');
    assert.equal(resolved.failure_code, 'buyer_complained');
    assert.equal(resolved.stage, 'watch');
    assert.equal((await checkout.session(sessionId)).status, 'open');
  });

  const arriving: Record<string, () => Partial<Payment>> = {
    'is valid': () => ({}),
    'ended a moment ago, which the chain may not show yet': () => ({
      validUntil: new Date(Date.now() - 30_000),
    }),
    'is used on the chain': () => ({ ...OVER, usedSeenAt: new Date() }),
    'was settled according to the facilitator': () => ({
      ...OVER,
      reportedTransaction: `0x${'cd'.repeat(32)}`,
    }),
  };
  for (const [what, overrides] of Object.entries(arriving)) {
    it(`do not fail a payment whose authorization ${what} without a confirmation`, async () => {
      const { sessionId, paymentId } = await buildUndecided(overrides());
      const failed = ['resolve-payment', paymentId, '--failed', '--reason', 'no'] as const;
      await assertRefused(/can still arrive: .*--even-if-it-can-still-arrive/, ...failed);
      assert.equal((await checkout.session(sessionId)).status, 'processing');
      const [, ...words] = failed;
      const resolved = await runJson('resolve-payment', ...words, '--even-if-it-can-still-arrive');
      // The reason is in the history and the log: the buyer must not take it for certain.
      assert.deepEqual([resolved.status, resolved.failure_code], ['failed', 'outcome_unknown']);
    });
  }

  it('tell the buyer of a payment that can still arrive not to pay again', async () => {
    const { sessionId, paymentId } = await claim();
    const failed = ['resolve-payment', paymentId, '--failed', '--reason', 'no'] as const;
    await runJson(...failed, '--even-if-it-can-still-arrive');
    const { status, body } = await checkout.visit(sessionId);
    assert.deepEqual([status, body.code], [402, 'outcome_unknown']);
    assert.match(body.error, new RegExp(paymentId));
  });

  it('tell the buyer the reason when the chain shows that nothing can arrive, with or without a confirmation', async () => {
    const { sessionId, paymentId } = await claimOver();
    chain.travel(3600);
    chain.mine();
    const failed = ['resolve-payment', paymentId, '--failed', '--reason', 'insufficient_funds'] as const;
    const { failure_code } = await runJson(...failed, '--even-if-it-can-still-arrive');
    assert.equal(failure_code, 'insufficient_funds');
    assert.equal((await checkout.visit(sessionId)).body.code, 'insufficient_funds');
  });

  it('are refused for decided payments, and without a reason', async () => {
    const { paymentId } = await buildUndecided();
    await runJson(
      'resolve-payment',
      paymentId,
      '--failed',
      '--reason',
      'no',
      '--even-if-it-can-still-arrive',
    );
    for (const [argv, words] of [
      [['resolve-payment', paymentId, '--paid', 'abc'], /decided already: it is failed/],
      [['resolve-payment', 'pay_none', '--paid', 'abc'], /No such payment/],
      [['resolve-payment', paymentId], /Give either --paid <transaction>, or --failed/],
      [['resolve-payment', paymentId, '--failed'], /--reason must be/],
      [['resolve-payment', paymentId, '--failed', '--reason', 'No Way'], /--reason must be/],
      [['payments'], /--undecided is missing/],
    ] as const) {
      const ran = await runCommand(...argv);
      assert.equal(ran.status, 1);
      assert.match(ran.stderr, words);
    }
  });
});
